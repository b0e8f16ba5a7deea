// What a container's process does: its command says it, so that a manifest shows it.

import type { ContainerConfig } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { FakeContainer } from "../../fake-cri/state.js";
import { kernel } from "../kernel/kernel.js";

export interface Script {
  /** Ends by itself after that time. */
  runsMs: number;
  exitCode: number;
  /** Time from SIGTERM to its end. */
  stopsMs: number;
  /** Its liveness probe fails after that time. */
  healthyMs: number;
  /** Its readiness probe succeeds from that time on. */
  readyMs: number;
  /** When it is sick, its server takes no connection; else it answers with an error. */
  refuses: boolean;
}

const WORD = /^(runs|exit|stops|healthy|ready|refuses)=(\d+)$/;

/** "runs=5000 exit=1 stops=200 healthy=60000 ready=10"; missing words mean endless, 0, 0, endless, 0. */
export function commandOf({ runsMs, exitCode, stopsMs, healthyMs, readyMs, refuses }: Partial<Script>): string[] {
  const words = ["process"];
  if (runsMs !== undefined && runsMs !== Infinity) words.push(`runs=${runsMs}`);
  if (exitCode !== undefined && exitCode !== 0) words.push(`exit=${exitCode}`);
  if (stopsMs !== undefined && stopsMs !== 0) words.push(`stops=${stopsMs === Infinity ? 999_999_999 : stopsMs}`);
  if (healthyMs !== undefined && healthyMs !== Infinity) words.push(`healthy=${healthyMs}`);
  if (readyMs !== undefined && readyMs !== 0) words.push(`ready=${readyMs}`);
  if (refuses === true) words.push("refuses=1");
  return words;
}

export function scriptOf({ command }: Pick<ContainerConfig, "command">): Script {
  const script: Script = { runsMs: Infinity, exitCode: 0, stopsMs: 0, healthyMs: Infinity, readyMs: 0, refuses: false };
  for (const word of command) {
    const [, name, value] = WORD.exec(word) ?? [];
    if (name === "runs") script.runsMs = Number(value);
    else if (name === "exit") script.exitCode = Number(value);
    else if (name === "stops") script.stopsMs = Number(value);
    else if (name === "healthy") script.healthyMs = Number(value);
    else if (name === "ready") script.readyMs = Number(value);
    else if (name === "refuses") script.refuses = value === "1";
  }
  return script;
}

/** What a liveness probe of the running container finds. */
export function isHealthy(container: FakeContainer): boolean {
  return ageOf(container) <= scriptOf(container.config).healthyMs;
}

/** What a readiness probe of the running container finds. */
export function isReady(container: FakeContainer): boolean {
  const { readyMs } = scriptOf(container.config);
  // A clock that was set back makes a container younger than nothing.
  return readyMs === 0 || ageOf(container) >= readyMs;
}

/** Time since its start by the wall clock, ms. */
function ageOf({ status }: FakeContainer): number {
  return kernel.wall - Number(status.startedAt / 1_000_000n);
}
