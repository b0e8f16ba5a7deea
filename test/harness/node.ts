// Integration and fault tests use a whole node: the real agent as a process on real containerd.
// Invariant: each node has folders and ports of its own; stop() removes pods, sandboxes, mounts and files even
// when the kubelet no longer answers. Nodes on the shared runtime must not overlap in time: a kubelet removes pods it
// does not know.

import { mkdtemp, readdir, readlink, rename, rm, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startContainerd, type PrivateContainerd } from "../../tools/standalone/containerd.js";
import { connectCri, removeSandboxes } from "../../tools/standalone/cri.js";
import { run } from "../../tools/standalone/exec.js";
import { importImages } from "../../tools/standalone/images.js";
import { prepareKubelet, type KubeletProcess } from "../../tools/standalone/kubelet-process.js";
import { unmountBelow } from "../../tools/standalone/mounts.js";
import { podTable, type PodView } from "../../tools/standalone/pods.js";
import { messageOf } from "../../tools/standalone/problem.js";
import { waitFor } from "../../tools/standalone/wait.js";
import { freePort } from "../support/free-port.js";

export { waitFor } from "../../tools/standalone/wait.js";
export type { PodView } from "../../tools/standalone/pods.js";

/** The name of the runtime of this test run, as it calls itself. */
export const RUNTIME_NAME = process.env["NODELET_TEST_RUNTIME"] === "docker" ? "docker" : "containerd";

export interface NodeOptions {
  /** `own`: a containerd of this node's own, which the test may kill; `shared` (default): that of the test run. */
  containerd?: "shared" | "own";
  nodeName?: string;
  /** More fields of KubeletConfiguration. */
  config?: Readonly<Record<string, unknown>>;
  flags?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** With the authenticated port; its self-signed certificate is at `<dir>/pki/kubelet.crt`. */
  secure?: boolean;
  /** false: the read-only port serves no pods; the node's own requests use the admin socket. */
  readOnlyPods?: boolean;
  /** Runs in place of the build's kubelet. */
  entry?: string;
  /** Lay everything out but leave the kubelet to be started by kubelet.start(). */
  start?: boolean;
}

export interface TestNode {
  readonly kubelet: KubeletProcess;
  readonly endpoint: string;
  /** Only with `containerd: "own"`. */
  readonly containerd: PrivateContainerd | undefined;
  /** Puts `<name>.yaml` in place in one step. `pod` is an object, or the text of the file. */
  writeManifest(name: string, pod: unknown): Promise<void>;
  removeManifest(name: string): Promise<void>;
  pods(): Promise<PodView[]>;
  /** Waits until `condition` holds for the pods that /pods shows; returns them. */
  waitFor(condition: (pods: PodView[]) => boolean, options: { what: string; timeoutMs?: number }): Promise<PodView[]>;
  /** SIGKILL to the kubelet. */
  kill9(): Promise<void>;
  /** Starts the kubelet (ending it with SIGTERM first if it runs) and waits for its health. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The image that tests run, there without pulling. */
export function testImage(): string {
  return setting("NODELET_TEST_IMAGE");
}

export async function startNode(options: NodeOptions = {}): Promise<TestNode> {
  const dir = await mkdtemp(join(setting("NODELET_TEST_DIR"), "n-"));
  let containerd: PrivateContainerd | undefined;
  try {
    if (options.containerd === "own") {
      containerd = await startContainerd({ dir: join(dir, "c") });
      await importImages(containerd.socket, setting("NODELET_TEST_IMAGES"));
    }
    // systemd: on a machine whose runtime has that driver, too (test/vm).
    const driver = process.env["NODELET_TEST_CGROUP_DRIVER"];
    const [readOnlyPort, healthzPort] = [await freePort(), await freePort()];
    const kubelet = await prepareKubelet({
      dir,
      endpoint: containerd?.endpoint ?? setting("NODELET_CRI_ENDPOINT"),
      cgroupRoot: containerd?.cgroup ?? setting("NODELET_CGROUP_ROOT"),
      readOnlyPort,
      healthzPort,
      ...(options.secure === true ? { port: await freePort() } : {}),
      nodeName: options.nodeName ?? "testnode",
      // However full the disk: the images on the shared runtime are those of all tests, and pods are let in.
      config: {
        imageGCHighThresholdPercent: 100,
        evictionHard: { "memory.available": "100Mi" },
        ...(driver === undefined ? {} : { cgroupDriver: driver }),
        ...options.config,
      },
      ...(options.readOnlyPods === undefined ? {} : { readOnlyPods: options.readOnlyPods }),
      ...(options.flags === undefined ? {} : { flags: options.flags }),
      ...(options.env === undefined ? {} : { env: options.env }),
      ...(options.entry === undefined ? {} : { entry: options.entry }),
    });
    const node = new Node(dir, kubelet, containerd);
    if (options.start !== false) {
      try {
        await node.restart();
      } catch (error) {
        await kubelet.end("SIGKILL");
        throw error;
      }
    }
    return node;
  } catch (error) {
    await containerd?.stop();
    await rm(dir, { recursive: true, force: true });
    throw error;
  }
}

/** Lines shown from the log of a kubelet that ended before its test did. */
const LAST_LINES = 200;

class Node implements TestNode {
  readonly endpoint: string;

  constructor(
    private readonly dir: string,
    readonly kubelet: KubeletProcess,
    readonly containerd: PrivateContainerd | undefined,
  ) {
    this.endpoint = containerd?.endpoint ?? setting("NODELET_CRI_ENDPOINT");
  }

  async writeManifest(name: string, pod: unknown): Promise<void> {
    const outside = join(this.dir, `${name}.incoming`);
    await writeFile(outside, typeof pod === "string" ? pod : JSON.stringify(pod, undefined, 2));
    await rename(outside, join(this.kubelet.manifests, `${name}.yaml`));
  }

  removeManifest(name: string): Promise<void> {
    return unlink(join(this.kubelet.manifests, `${name}.yaml`));
  }

  pods(): Promise<PodView[]> {
    return this.kubelet.pods();
  }

  async waitFor(
    condition: (pods: PodView[]) => boolean,
    options: { what: string; timeoutMs?: number },
  ): Promise<PodView[]> {
    let seen: PodView[] = [];
    await waitFor(
      async () => {
        seen = await this.pods();
        return condition(seen);
      },
      { ...options, lastSeen: () => `\n${podTable(seen)}` },
    );
    return seen;
  }

  kill9(): Promise<void> {
    return this.kubelet.end("SIGKILL");
  }

  async restart(): Promise<void> {
    await this.kubelet.end("SIGTERM");
    await this.kubelet.start();
    await this.kubelet.waitHealthy();
  }

  async stop(): Promise<void> {
    const { kubelet } = this;
    // Its log goes with the node's folder. A native crash writes nothing but that.
    const hasEnded = kubelet.identity !== undefined && kubelet.pid === undefined;
    if (hasEnded && kubelet.exitCode !== 0) console.error(await kubelet.ending(LAST_LINES));
    await kubelet.end("SIGKILL");
    if (this.containerd !== undefined) await this.containerd.stop();
    else await removeAllSandboxes(this.endpoint);
    await unmountBelow(this.dir);
    await removeLogLinks(this.dir);
    await rm(this.dir, { recursive: true, force: true });
  }
}

/**
 * A kubelet that is killed in the middle of StartContainer can leave a task in containerd that its CRI service does not
 * know. No CRI call removes that container (https://github.com/containerd/containerd/issues/11037). The tasks then end
 * by force, so that the tests after this one do not fail for it.
 */
export async function removeAllSandboxes(endpoint: string): Promise<void> {
  const cri = connectCri(endpoint);
  try {
    await removeSandboxes(cri).catch(async (error: unknown) => {
      await endTasks(endpoint, messageOf(error));
      await removeSandboxes(cri);
    });
  } finally {
    cri.close();
  }
}

async function endTasks(endpoint: string, reason: string): Promise<void> {
  const client = ["-a", endpoint.replace("unix://", ""), "-n", "k8s.io", "tasks"];
  const tasks = (await run("ctr", [...client, "ls", "-q"])).split("\n").filter((id) => id !== "");
  console.error(`${reason}; ending ${tasks.length} tasks of containerd by force`);
  // It reports the exit code of the killed process as its own.
  for (const id of tasks) await run("ctr", [...client, "rm", "-f", id]).catch(() => undefined);
}

/** The links for log collectors lie outside the node's folder, among those of other nodes. */
async function removeLogLinks(dir: string): Promise<void> {
  const folder = "/var/log/containers";
  for (const name of await readdir(folder).catch(() => [])) {
    const link = join(folder, name);
    const target = await readlink(link).catch(() => "");
    if (target.startsWith(`${dir}/`)) await rm(link, { force: true });
  }
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: this test needs the environment of \`npm test\``);
  return value;
}
