// A kept manifest as clients see it: the Pod as written, with the status of its pod; also as a list or a table. The
// text is joined, not parsed: a manifest may have 10 MiB. Source of the table's format:
// https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables

import type { KeptManifest } from "../../../../shared/contracts/manifests.js";
import type { ApiContainerStatus } from "../../../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../../shared/kubernetes/api/pod.js";

export interface ShownManifest {
  manifest: KeptManifest;
  /** Absent: the kubelet has not begun with it. */
  pod: Pod | undefined;
}

/** JSON of a Pod. */
export function podText({ manifest, pod }: ShownManifest): string {
  const { metadata, spec, resourceVersion, createdAt, problem } = manifest;
  const deletion = pod?.metadata.deletionTimestamp;
  const own = {
    resourceVersion,
    creationTimestamp: new Date(createdAt).toISOString().replace(/\.\d+Z$/, "Z"),
    deletionTimestamp: deletion,
  };
  const status =
    problem === undefined
      ? (pod?.status ?? { phase: "Pending" })
      : { phase: "Failed", reason: "Refused", message: problem };
  const members = JSON.stringify(own).slice(0, -1);
  return `{"apiVersion":"v1","kind":"Pod","metadata":${members},${metadata.slice(1)},"spec":${spec},"status":${JSON.stringify(status)}}`;
}

export function* listTexts(shown: readonly ShownManifest[], resourceVersion: string): Generator<string> {
  yield `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"${resourceVersion}"},"items":[`;
  for (const [index, one] of shown.entries()) yield `${index === 0 ? "" : ","}${podText(one)}`;
  yield "]}\n";
}

const COLUMNS = [
  ["Namespace", "string", "namespace of the pod"],
  ["Name", "string", "name of the manifest; the pod's name is this and the node's name"],
  ["Ready", "string", "containers that are ready, of all"],
  ["Status", "string", "phase of the pod, or why it does not run"],
  ["Restarts", "integer", "restarts of all containers"],
  ["Version", "string", "resource version of the manifest, its ETag"],
  ["Age", "string", "time since a manifest of this name was first sent"],
] as const;

/** meta.k8s.io/v1 Table. */
export function table(shown: readonly ShownManifest[], resourceVersion: string, now: number): unknown {
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: { resourceVersion },
    columnDefinitions: COLUMNS.map(([name, type, description]) => ({
      name,
      type,
      description,
      format: name === "Name" ? "name" : "",
      priority: 0,
    })),
    rows: shown.map((one) => ({ cells: cells(one, now) })),
  };
}

/** The table for a terminal. */
export function plainTable(shown: readonly ShownManifest[], now: number): string {
  const rows = [COLUMNS.map(([name]) => name.toUpperCase()), ...shown.map((one) => cells(one, now).map(String))];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("   "));
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

function cells({ manifest, pod }: ShownManifest, now: number): (string | number)[] {
  const statuses = pod?.status?.containerStatuses ?? [];
  const ready = statuses.filter((status) => status.ready).length;
  const restarts = statuses.reduce((sum, status) => sum + status.restartCount, 0);
  return [
    manifest.namespace,
    manifest.name,
    `${ready}/${pod?.spec.containers.length ?? 0}`,
    statusWord(manifest, pod, statuses),
    restarts,
    manifest.resourceVersion,
    age(now - manifest.createdAt),
  ];
}

function statusWord(manifest: KeptManifest, pod: Pod | undefined, statuses: readonly ApiContainerStatus[]): string {
  if (manifest.problem !== undefined) return "Refused";
  if (pod === undefined) return "Pending";
  if (pod.metadata.deletionTimestamp !== undefined) return "Terminating";
  const waiting = statuses.map(({ state }) => state.waiting?.reason).find((reason) => reason !== undefined);
  return pod.status?.reason ?? waiting ?? pod.status?.phase ?? "Pending";
}

function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 48 * 3600 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
