// An API server for the bench: that of KUBECONFIG (with NODELET_BENCH_NODE_KUBECONFIG for the node), or the fixture of
// test/fake-api as a process of its own; and what a client of it sees of the bench's pods, by one watch.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { ApiKit, type ApiObject } from "../../test/support/api-kit.js";

const FIXTURE = fileURLToPath(new URL("../../test/fake-api/main.js", import.meta.url));
export const NODE_NAME = "bench";
export const NAMESPACE = "default";

export interface ClusterUnderTest extends AsyncDisposable {
  api: ApiKit;
  /** With the credentials of the bench's node. */
  nodeKubeconfig: string;
  /** "fixture", or the server's address. */
  server: string;
}

export async function startCluster(): Promise<ClusterUnderTest> {
  const { KUBECONFIG: given, NODELET_BENCH_NODE_KUBECONFIG: nodeKubeconfig } = process.env;
  if (given !== undefined && nodeKubeconfig !== undefined) {
    const api = await ApiKit.fromKubeconfig(given);
    return {
      api,
      nodeKubeconfig,
      server: api.server,
      [Symbol.asyncDispose]() {
        api.close();
        return Promise.resolve();
      },
    };
  }
  const child = spawn(process.execPath, [FIXTURE, "--node", NODE_NAME], { stdio: ["ignore", "pipe", "inherit"] });
  const [admin, node] = await firstLines(child, 2);
  const api = await ApiKit.fromKubeconfig(admin ?? "");
  return {
    api,
    nodeKubeconfig: node?.split(" ")[1] ?? "",
    server: "fixture",
    async [Symbol.asyncDispose]() {
      api.close();
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

async function firstLines(child: ChildProcess, count: number): Promise<string[]> {
  const lines: string[] = [];
  if (child.stdout === null) throw new Error("the API server's output is not piped");
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (lines.length === count) return lines;
  }
  throw new Error("the API server exited before it was up");
}

/** Times at which the bench's pods were first Ready, and removed, by performance.now(). */
export class PodWatch implements Disposable {
  private readonly abort = new AbortController();
  private readonly seen = new Map<string, number>();
  private readonly waiting = new Map<string, (at: number) => void>();

  constructor(private readonly api: ApiKit) {}

  async start(): Promise<void> {
    let resourceVersion = await this.look();
    const run = async (): Promise<void> => {
      while (!this.abort.signal.aborted) {
        const events = this.api.watch("pods", NAMESPACE, { resourceVersion }, this.abort.signal);
        for await (const { type, object } of events) {
          const { name } = object.metadata;
          if (type === "DELETED") this.mark(`${name} gone`);
          else if (isReady(object)) this.mark(`${name} ready`);
        }
        // A real server ends the watch of a client that was slow for a moment.
        resourceVersion = await this.look();
      }
    };
    run().catch((error: unknown) => {
      if (!this.abort.signal.aborted) throw error;
    });
  }

  /** The current objects; events continue from the returned version. */
  private async look(): Promise<string> {
    const { items, metadata } = await this.api.list("pods", NAMESPACE);
    const there = new Set(items.map((pod) => pod.metadata.name));
    for (const pod of items) if (isReady(pod)) this.mark(`${pod.metadata.name} ready`);
    for (const key of this.waiting.keys()) {
      const [name = "", what] = key.split(" ");
      if (what === "gone" && !there.has(name)) this.mark(key);
    }
    return metadata.resourceVersion;
  }

  /** Time of the event; waits for it, two minutes at most. */
  at(name: string, what: "ready" | "gone"): Promise<number> {
    const key = `${name} ${what}`;
    const known = this.seen.get(key);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`pod ${name} was not ${what} within 120 s`)), 120_000);
      this.waiting.set(key, (at) => {
        clearTimeout(timer);
        resolve(at);
      });
    });
  }

  [Symbol.dispose](): void {
    this.abort.abort();
  }

  private mark(key: string): void {
    if (this.seen.has(key)) return;
    const now = performance.now();
    this.seen.set(key, now);
    this.waiting.get(key)?.(now);
    this.waiting.delete(key);
  }
}

/** Waits until the server has the node as Ready. */
export async function nodeReady(api: ApiKit, name: string, timeoutMs = 60_000): Promise<void> {
  const holds = (node: ApiObject | undefined): boolean => node !== undefined && isReady(node);
  await api.waitFor("nodes", "", name, holds, { what: `node ${name} to be Ready`, timeoutMs });
}

/** Whether a pod or a node has the condition Ready with status True. */
function isReady({ status }: ApiObject): boolean {
  const conditions = status?.["conditions"] as { type: string; status: string }[] | undefined;
  return conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false;
}
