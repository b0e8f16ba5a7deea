// Input and result of one probe run, for all kinds of probes. Every run has a deadline.
import { OUTPUT_LIMIT_BYTES, type ProbeOutcome } from "../../shared/contracts/prober.js";
import type { ProbeDeadline } from "./probe-deadline.js";

export interface RunResult {
  outcome: ProbeOutcome;
  output: string;
}

export interface RunContext {
  deadline: ProbeDeadline;
  /** "kube-probe/1.36" */
  userAgent: string;
}

export const success = (output = ""): RunResult => ({ outcome: "success", output });
export const failure = (output: string): RunResult => ({ outcome: "failure", output });

/** The first 10 KiB as text. */
export function boundedText(...chunks: readonly Uint8Array[]): string {
  return Buffer.concat(chunks).subarray(0, OUTPUT_LIMIT_BYTES).toString("utf8");
}
