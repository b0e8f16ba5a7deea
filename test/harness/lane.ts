// A lane runs test files one after the other in one environment. Lanes run side by side: most tests wait for
// containers, not for a processor.
// Invariant: run() resolves with a result also when the lane's process ends; the next file gets a new process.

import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { inNetns } from "../../tools/standalone/netns.js";
import { brokenFile, type FileResult } from "./file-result.js";
import type { LaneKind } from "./suites.js";

/** From the harness to the lane's process. */
export interface LaneOrder {
  /** Path of the compiled test. */
  file: string;
  timeoutMs: number;
  /** Send the output as it comes. */
  isShown: boolean;
}

/** From the lane's process to the harness. */
export type LaneReport = { isReady: true } | { output: string } | { result: FileResult };

export interface LaneOptions {
  kind: LaneKind;
  /** The Node that runs the tests and the kubelet. */
  node: string;
  /** Network namespace; absent: that of the harness. */
  netns?: string;
  env: Readonly<Record<string, string>>;
}

const PROGRAM = fileURLToPath(new URL("lane-process.js", import.meta.url));
const END_TIMEOUT_MS = 10_000;

export class Lane {
  readonly kind: LaneKind;
  private child: ChildProcess | undefined;
  private isReady = false;

  constructor(private readonly options: LaneOptions) {
    this.kind = options.kind;
  }

  /** Runs one file. `show` gets its output as it comes. Never rejects. */
  run(file: string, timeoutMs: number, show: ((text: string) => void) | undefined): Promise<FileResult> {
    const child = this.child ?? this.start();
    const began = performance.now();
    return new Promise((resolve) => {
      const end = (result: FileResult): void => {
        child.off("message", onReport).off("exit", onExit).off("error", onError);
        resolve(result);
      };
      const onReport = (report: LaneReport): void => {
        if ("output" in report) show?.(report.output);
        else if ("result" in report) end(report.result);
        else child.send({ file, timeoutMs, isShown: show !== undefined } satisfies LaneOrder);
      };
      const onExit = (status: number | null, signal: string | null): void => {
        const seconds = (performance.now() - began) / 1000;
        end(brokenFile(`✖ the lane's process ended with ${signal ?? `status ${status ?? "unknown"}`}`, seconds));
      };
      const onError = (error: Error): void => end(brokenFile(`✖ the lane's process: ${error.message}`));
      child.on("message", onReport).on("exit", onExit).on("error", onError);
      if (this.isReady) onReport({ isReady: true });
    });
  }

  /** Ends the process and the file that it runs. */
  async stop(): Promise<void> {
    const { child } = this;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.disconnect();
    const late = setTimeout(() => child.kill("SIGKILL"), END_TIMEOUT_MS);
    await ended;
    clearTimeout(late);
  }

  private start(): ChildProcess {
    const { node, netns, env } = this.options;
    const { command, args } = inNetns(netns, node, [PROGRAM]);
    const child = spawn(command, args, {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      // A lane of a test of the harness is no part of that test.
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env },
    });
    this.isReady = false;
    this.child = child;
    child.once("message", () => (this.isReady = true));
    const forget = (): void => {
      if (this.child === child) this.child = undefined;
    };
    child.once("exit", forget).once("error", forget);
    return child;
  }
}
