// One run in a process of its own.

import { spawn } from "node:child_process";
import type { RunOrder, RunResult } from "./order.js";

/** A run that ended without a result. */
export class RunFailedError extends Error {
  override readonly name = "RunFailedError";
}

/** Real time of one simulated hour, at the most. */
const PATIENCE_MS = 30 * 60_000;

/**
 * Most objects of a run are short-lived: with a larger young generation a fifth less processor time. Most functions run
 * too seldom for the optimizing compilers: with the baseline compiler at once a seventh less.
 */
const FLAGS = ["--min-semi-space-size=64", "--max-semi-space-size=64", "--always-sparkplug"];

/** Folder of the compiled code that the runs of a bundle share. */
export function compiledCodeOf(bundle: string): string {
  return `${bundle}.compiled`;
}

/** `onLine` gets the trace of a run that prints it. */
export function runSeed(bundle: string, order: RunOrder, onLine?: (line: string) => void): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    // Coverage counts what is compiled in the run itself.
    const compiled = order.code === true ? {} : { NODE_COMPILE_CACHE: compiledCodeOf(bundle) };
    const child = spawn(process.execPath, [...FLAGS, bundle, JSON.stringify(order)], {
      env: { ...process.env, ...compiled },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: PATIENCE_MS * Math.max(1, order.hours),
    });
    let last = "";
    let errors = "";
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (last !== "") onLine?.(last);
        last = line;
      }
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors = (errors + text).slice(-4000);
    });
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (last.startsWith("{")) resolve(JSON.parse(last) as RunResult);
      else reject(new RunFailedError(`the run of seed ${order.seed} ended with ${signal ?? code}: ${errors}`));
    });
  });
}
