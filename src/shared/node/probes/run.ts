// Input and result of one probe run, for all kinds of probes. Every run has a deadline.

import { OUTPUT_LIMIT_BYTES, type ProbeOutcome, type ProbeSpec } from "../../contracts/prober.js";
import type { PodUid } from "../../kubernetes/identifiers.js";
import type { ProbeDeadline } from "./probe-deadline.js";

export interface RunResult {
  outcome: ProbeOutcome;
  output: string;
}

export interface RunContext {
  uid: PodUid;
  deadline: ProbeDeadline;
  /** "kube-probe/1.36" */
  userAgent: string;
}

/** Rejects for an error that proves nothing about the container. */
export type RunAction = (spec: ProbeSpec, context: RunContext) => Promise<RunResult>;

/** The pod's probe cannot be run. */
export class ImpossibleProbeError extends Error {
  override readonly name = "ImpossibleProbeError";
}

/**
 * The runtime ends a command at its timeout. If it has not responded this long after the timeout, the runtime is at
 * fault.
 */
export const RUNTIME_PATIENCE_MS = 10_000;

export const success = (output = ""): RunResult => ({ outcome: "success", output });
export const failure = (output: string): RunResult => ({ outcome: "failure", output });

/** The first 10 KiB as text. */
export function boundedText(...chunks: readonly Uint8Array[]): string {
  return Buffer.concat(chunks).subarray(0, OUTPUT_LIMIT_BYTES).toString("utf8");
}
