// Retained memory of each thread of a running Node process. SIGUSR1 opens V8's inspector in it; every thread collects
// its garbage and reports its heap. Invariant: the process is left unchanged except for the inspector's own thread and
// port.

import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { WebSocket } from "ws";
import { waitFor } from "../../tools/standalone/wait.js";

/** The inspector's port: it is the process's alone in the network namespace of the bench. */
const INSPECTOR = "http://127.0.0.1:9229/json";
const ANSWER_MS = 60_000;
/**
 * Name of a thread of the tasks pool. It waits for a job in Atomics.wait and answers nothing meanwhile; such threads
 * come and go.
 */
const POOL_THREAD = "WorkerThread";

export interface ThreadMemory {
  /** JavaScript objects; those alive when the garbage was collected before. */
  heapMiB: number;
  /** Memory outside the heap, mostly buffers. */
  externalMiB: number;
}

interface Answer {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { message: string };
}

interface Waiting {
  resolve: (result: Record<string, unknown>) => void;
  reject: (error: Error) => void;
}

const MIB = 1024 ** 2;
const MEMORY = "JSON.stringify((({ heapUsed, external }) => [heapUsed, external])(process.memoryUsage()))";

export class InspectedProcess implements Disposable {
  /** Session to name of the worker threads there are. */
  private readonly workers = new Map<string, string>();
  private readonly waiting = new Map<string, Waiting>();
  private snapshot: WriteStream | undefined;
  private serial = 0;

  private constructor(private readonly socket: WebSocket) {
    socket.on("message", (data: Buffer) => this.receive(JSON.parse(data.toString("utf8")) as Answer));
    socket.on("close", () => {
      for (const { reject } of this.waiting.values()) reject(new Error("the inspected process has exited"));
      this.waiting.clear();
    });
  }

  static async open(pid: number): Promise<InspectedProcess> {
    process.kill(pid, "SIGUSR1");
    const targets = await waitFor(
      async () => (await (await fetch(INSPECTOR)).json()) as { webSocketDebuggerUrl: string }[],
      {
        what: "the inspector to listen",
      },
    );
    const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? "", { perMessageDeflate: false });
    await once(socket, "open");
    const inspected = new InspectedProcess(socket);
    await inspected.ask("", "NodeWorker.enable", { waitForDebuggerOnStart: false });
    return inspected;
  }

  /**
   * By name of the thread, without the tasks pool; of threads of one name the sum. `collect`: every thread collects its
   * garbage before.
   */
  async memory(collect: boolean): Promise<Map<string, ThreadMemory>> {
    const found = new Map<string, ThreadMemory>();
    for (const [session, name] of [["", "main"] as const, ...this.workers]) {
      if (name === POOL_THREAD) continue;
      // A thread that ends meanwhile says no more.
      const memory = await this.memoryOf(session, collect).catch(() => undefined);
      if (memory === undefined) continue;
      const { heapMiB = 0, externalMiB = 0 } = found.get(name) ?? {};
      found.set(name, { heapMiB: heapMiB + memory.heapMiB, externalMiB: externalMiB + memory.externalMiB });
    }
    return found;
  }

  /** Asks every thread; the answers by name of the thread. A thread that ends meanwhile has none. */
  async askAll(method: string, params: object = {}): Promise<Map<string, Record<string, unknown>[]>> {
    const answers = new Map<string, Record<string, unknown>[]>();
    for (const [session, name] of [["", "main"] as const, ...this.workers]) {
      const answer = await this.ask(session, method, params).catch(() => undefined);
      if (answer !== undefined) answers.set(name, [...(answers.get(name) ?? []), answer]);
    }
    return answers;
  }

  /** Writes a heap snapshot of the thread, for Chromium's developer tools. */
  async writeSnapshot(thread: string, path: string): Promise<void> {
    const session = thread === "main" ? "" : [...this.workers].find(([, name]) => name === thread)?.[0];
    if (session === undefined) throw new Error(`no thread ${thread}: ${[...this.workers.values()].join(", ")}`);
    const file = (this.snapshot = createWriteStream(path));
    await this.ask(session, "HeapProfiler.takeHeapSnapshot", { reportProgress: false });
    this.snapshot = undefined;
    file.end();
    await finished(file);
  }

  [Symbol.dispose](): void {
    this.socket.close();
  }

  private async memoryOf(session: string, collect: boolean): Promise<ThreadMemory> {
    if (collect) await this.ask(session, "HeapProfiler.collectGarbage");
    const { result } = await this.ask(session, "Runtime.evaluate", { expression: MEMORY, returnByValue: true });
    const [heap = 0, external = 0] = JSON.parse((result as { value: string }).value) as number[];
    return { heapMiB: heap / MIB, externalMiB: external / MIB };
  }

  /** Sends one inspector command; session "" addresses the main thread. */
  private ask(session: string, method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = ++this.serial;
    const text = JSON.stringify({ id, method, params });
    return new Promise((resolve, reject) => {
      const key = `${session} ${id}`;
      const timer = setTimeout(() => end(() => reject(new Error(`no response to ${method}`))), ANSWER_MS);
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        this.waiting.delete(key);
        settle();
      };
      this.waiting.set(key, {
        resolve: (result) => end(() => resolve(result)),
        reject: (error) => end(() => reject(error)),
      });
      if (session === "") this.socket.send(text);
      else {
        const sent = { id: ++this.serial, method: "NodeWorker.sendMessageToWorker" };
        this.socket.send(JSON.stringify({ ...sent, params: { sessionId: session, message: text } }));
      }
    });
  }

  private receive(answer: Answer, session = ""): void {
    const { id, method, params = {} } = answer;
    if (id !== undefined) {
      const waiting = this.waiting.get(`${session} ${id}`);
      if (answer.error === undefined) waiting?.resolve(answer.result ?? {});
      else waiting?.reject(new Error(answer.error.message));
      return;
    }
    const of = String(params["sessionId"]);
    if (method === "NodeWorker.attachedToWorker") this.workers.set(of, nameOf(params["workerInfo"] as WorkerInfo));
    else if (method === "NodeWorker.detachedFromWorker") this.workers.delete(of);
    else if (method === "NodeWorker.receivedMessageFromWorker") {
      this.receive(JSON.parse(String(params["message"])) as Answer, of);
    } else if (method === "HeapProfiler.addHeapSnapshotChunk") this.snapshot?.write(String(params["chunk"]));
  }
}

interface WorkerInfo {
  title: string;
  url: string;
}

/** Node's title is "[worker 3] server", or "Worker 3" for a thread without a name: then its file says most. */
function nameOf({ title, url }: WorkerInfo): string {
  const [, name] = /^\[worker \d+\] (\S+)/.exec(title) ?? [];
  return name ?? url.split("/").slice(-2).join("/");
}
