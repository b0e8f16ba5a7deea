// A node with an API server of its own on real containerd, and Debian's kubectl as its administrator.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startNode, waitFor, type NodeOptions, type TestNode } from "../harness/node.js";
import { freePort } from "./free-port.js";
import { Kubectl } from "./kubectl.js";

export class OwnApiNode implements AsyncDisposable {
  private constructor(
    readonly node: TestNode,
    readonly kubectl: Kubectl,
    readonly port: number,
  ) {}

  static async start(options: NodeOptions = {}): Promise<OwnApiNode> {
    const port = await freePort();
    const flags = [`--api-server-port=${port}`, ...(options.flags ?? [])];
    const node = await startNode({ ...options, flags });
    try {
      const kubectl = await Kubectl.start(await readFile(apiFile(node, "admin.kubeconfig"), "utf8"));
      await waitFor(async () => (await kubectl.run(["wait", "--for=condition=Ready", "node", "--all"])).code === 0, {
        what: "the node to be ready",
      });
      return new OwnApiNode(node, kubectl, port);
    } catch (error) {
      await node.stop();
      throw error;
    }
  }

  file(name: string): string {
    return apiFile(this.node, name);
  }

  /** A kubectl with the kubeconfig of another client of this node. */
  async as(name: string): Promise<Kubectl> {
    return Kubectl.start(await readFile(this.file(`${name}.kubeconfig`), "utf8"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kubectl[Symbol.asyncDispose]();
    await this.node.stop();
  }
}

function apiFile(node: TestNode, name: string): string {
  return join(node.kubelet.rootDir, "nodelet", "api", name);
}
