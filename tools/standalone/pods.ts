// Reads the kubelet's pods (/pods, a v1 PodList) for `npm start`, tests and benchmarks, and prints them as a table.

import type { Pod } from "../../src/shared/kubernetes/api/pod.js";
import { askKubelet, REQUEST_TIMEOUT_MS } from "./admin-socket.js";

/** A pod as /pods shows it. */
export type PodView = Pod;

/** The pods of the agent at `url`. Throws when it cannot be asked. */
export async function fetchPods(url: string): Promise<PodView[]> {
  const response = await fetch(`${url}/pods`, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url}/pods answered ${response.status}: ${(await response.text()).trim()}`);
  const list = (await response.json()) as { items?: PodView[] | null };
  return list.items ?? [];
}

/** The pods of the kubelet with that root directory, over its admin socket. Rejects when it cannot be asked. */
export async function fetchPodsOverSocket(rootDir: string): Promise<PodView[]> {
  const list = JSON.parse(await askKubelet(rootDir, "GET", "/pods")) as { items?: PodView[] | null };
  return list.items ?? [];
}

/** True when the health endpoint reports healthy; false also while the port is closed. */
export async function isHealthy(healthzUrl: string): Promise<boolean> {
  try {
    const response = await fetch(healthzUrl, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** True when the pod's phase is Running and each of its regular containers runs. */
export function isRunning(pod: PodView): boolean {
  const statuses = pod.status?.containerStatuses ?? [];
  return (
    pod.status?.phase === "Running" &&
    statuses.length === pod.spec.containers.length &&
    statuses.every(({ state }) => state.running !== undefined)
  );
}

/** True when the pod does what its manifest wants: it runs, or ended well. */
export function isSettled(pod: PodView): boolean {
  return isRunning(pod) || pod.status?.phase === "Succeeded";
}

/** One line per container, the pod's own columns on its first line. */
export function podTable(pods: readonly PodView[]): string {
  const rows = [["POD", "PHASE", "IP", "CONTAINER", "STATE", "RESTARTS"]];
  for (const pod of pods) {
    const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
    const own = [pod.metadata.name, pod.status?.phase ?? "Pending", pod.status?.podIP ?? "-"];
    if (statuses.length === 0) rows.push([...own, "-", "-", "-"]);
    statuses.forEach(({ name, state, restartCount }, index) => {
      const kind = (Object.keys(state) as (keyof typeof state)[]).find((key) => state[key] !== undefined) ?? "unknown";
      rows.push([...(index === 0 ? own : ["", "", ""]), name, kind, String(restartCount)]);
    });
  }
  return alignColumns(rows);
}

/** Pads every column to its widest cell; two blanks between. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
