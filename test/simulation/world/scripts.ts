// What a container's process does: its command says it, so that a manifest shows it.

import type { ContainerConfig } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";

export interface Script {
  /** Ends by itself after that time. */
  runsMs: number;
  exitCode: number;
  /** Time from SIGTERM to its end. */
  stopsMs: number;
  /** Its liveness probe fails after that time. */
  healthyMs: number;
}

const WORD = /^(runs|exit|stops|healthy)=(\d+)$/;

/** "runs=5000 exit=1 stops=200 healthy=60000"; missing words mean endless, 0, 0, endless. */
export function commandOf({ runsMs, exitCode, stopsMs, healthyMs }: Partial<Script>): string[] {
  const words = ["process"];
  if (runsMs !== undefined && runsMs !== Infinity) words.push(`runs=${runsMs}`);
  if (exitCode !== undefined && exitCode !== 0) words.push(`exit=${exitCode}`);
  if (stopsMs !== undefined && stopsMs !== 0) words.push(`stops=${stopsMs === Infinity ? 999_999_999 : stopsMs}`);
  if (healthyMs !== undefined && healthyMs !== Infinity) words.push(`healthy=${healthyMs}`);
  return words;
}

export function scriptOf({ command }: Pick<ContainerConfig, "command">): Script {
  const script: Script = { runsMs: Infinity, exitCode: 0, stopsMs: 0, healthyMs: Infinity };
  for (const word of command) {
    const [, name, value] = WORD.exec(word) ?? [];
    if (name === "runs") script.runsMs = Number(value);
    else if (name === "exit") script.exitCode = Number(value);
    else if (name === "stops") script.stopsMs = Number(value);
    else if (name === "healthy") script.healthyMs = Number(value);
  }
  return script;
}
