// A normal operator beside the attacks: kubectl-like calls at the authenticated port, one after the other, without end.
// A window collects what they saw between two moments.

import { Worker } from "node:worker_threads";
import { waitFor } from "../harness/node.js";
import { DIRECT_PAGE } from "./direct.js";

export interface OperatorData {
  /** `https://127.0.0.1:<port>` */
  url: string;
  /** The page of the process beside the kubelet. */
  directUrl: string;
  cert: string;
  key: string;
  pod: string;
  container: string;
}

export interface OperatorCall {
  kind: string;
  ms: number;
  /** Why it failed. */
  problem?: string;
  pod?: { ready: boolean; since: string; restarts: number };
  /** Main's longest event-loop delay since the last call of this kind. */
  mainDelayMs?: number;
  threadRestarts?: number;
  /** The metric's lines: which thread, and why. */
  restartReasons?: string;
}

export class OperatorWindow {
  readonly calls: OperatorCall[] = [];

  /** The slowest answered call of each kind, ms. */
  slowest(): Map<string, number> {
    const slowest = new Map<string, number>();
    for (const { kind, ms } of this.answered()) slowest.set(kind, Math.max(ms, slowest.get(kind) ?? 0));
    return slowest;
  }

  /** The answered calls of the kubelet, and of the process beside it. */
  private answered(): OperatorCall[] {
    return this.calls.filter(({ problem }) => problem === undefined);
  }

  /** The p99 of the kubelet's calls that were answered. */
  get p99Ms(): number {
    const ofKubelet = this.answered().filter(({ kind }) => kind !== DIRECT_PAGE);
    const times = ofKubelet.map(({ ms }) => ms).sort((a, b) => a - b);
    return times[Math.ceil(times.length * 0.99) - 1] ?? 0;
  }

  get mainDelayMs(): number {
    return Math.max(0, ...this.calls.map((call) => call.mainDelayMs ?? 0));
  }

  get problems(): string[] {
    return this.calls.flatMap(({ kind, problem }) => (problem === undefined ? [] : [`${kind}: ${problem}`]));
  }

  last<Key extends "pod" | "threadRestarts" | "restartReasons">(key: Key): OperatorCall[Key] | undefined {
    return this.calls.findLast((call) => call[key] !== undefined)?.[key];
  }
}

export class Operator {
  private readonly windows = new Set<OperatorWindow>();
  private readonly worker: Worker;

  constructor(data: OperatorData) {
    this.worker = new Worker(new URL("./operator-thread.js", import.meta.url), { workerData: data });
    this.worker.on("message", (call: OperatorCall) => {
      for (const window of this.windows) window.calls.push(call);
    });
  }

  open(): OperatorWindow {
    const window = new OperatorWindow();
    this.windows.add(window);
    return window;
  }

  close(window: OperatorWindow): void {
    this.windows.delete(window);
  }

  /** Waits for one whole round of calls that begins now and is answered; gives it. */
  async round(timeoutMs: number): Promise<OperatorWindow> {
    const window = this.open();
    const good = (kind: string): boolean =>
      window.calls.slice(1).some((call) => call.kind === kind && call.problem === undefined);
    try {
      await waitFor(() => ["/pods", "/containerLogs", "/exec", "/stats/summary", "/metrics"].every(good), {
        what: "responses to the operator's calls",
        timeoutMs,
        lastSeen: () => window.problems.slice(-3).join("; "),
      });
      return window;
    } finally {
      this.close(window);
    }
  }

  async stop(): Promise<void> {
    await this.worker.terminate();
  }
}
