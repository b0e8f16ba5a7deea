// The containers of a pod as sources of logs, and the one to show first. Pure.

import type { ContainerView } from "../cli/why/input.js";

export interface LogSource {
  name: string;
  /** "app", or "init (init container)". */
  label: string;
  /** Another value for each run of the container; "": it has not run. */
  run: string;
  isApp: boolean;
}

/** App containers first: what they write matters most. */
export function logSources(containers: readonly ContainerView[]): LogSource[] {
  const order = { container: 0, "ephemeral container": 1, "init container": 2 } as const;
  return containers
    .toSorted((a, b) => order[a.kind] - order[b.kind])
    .map(({ container: { name }, kind, status }) => ({
      name,
      label: kind === "container" ? name : `${name} (${kind})`,
      run: runOf(status),
      isApp: kind === "container",
    }));
}

/** The first app container that has run. While none has, the init container that ran last shows why. */
export function firstSource(sources: readonly LogSource[]): LogSource | undefined {
  const ran = sources.filter(({ run }) => run !== "");
  return ran.find(({ isApp }) => isApp) ?? ran.at(-1) ?? sources[0];
}

/** A container that waits for its restart keeps the id of the run before. */
function runOf(status: ContainerView["status"]): string {
  return status?.containerID ?? status?.lastState.terminated?.containerID ?? "";
}
