// docs/reference/limits.md: the limits of sizes and numbers, by subject.

import { NODE_LIMITS } from "./limit-rows/node.js";
import { POD_LIMITS } from "./limit-rows/pods.js";
import type { LimitRow, LimitRows, Unit } from "./limit-rows/row.js";
import { heading, table } from "./table.js";

/** By subject, in the order of the page. */
export const LIMITS: LimitRows = { ...POD_LIMITS, ...NODE_LIMITS };

export function limitsPage(): string {
  const sections = Object.entries(LIMITS).flatMap(([subject, rows]) => [
    `## ${subject}`,
    "",
    ...table(["limit of", "value", "beyond it", "reason", "upstream's kubelet"], rows.map(cells)),
  ]);
  return [
    ...heading("Limits", [
      "Each part of the kubelet bounds what it reads, so that no pod, client or file can take its memory or hold up other pods.",
      "These are the limits of sizes and numbers that one can meet. Limits of pods, ports and logs that a field sets are in [Configuration fields](fields.md).",
      "Times to wait are in the pages of their subjects. Limits of clients without credentials: [Security model](../security.md).",
    ]),
    ...sections,
  ].join("\n");
}

function cells({ what, value, unit, beyond, reason, upstream }: LimitRow): string[] {
  return [what, shown(value, unit), beyond, reason, upstream];
}

function shown(value: number, unit: Unit): string {
  if (unit !== "bytes") return `${value.toLocaleString("en-US")} ${unit}`;
  const [name, size] = SIZES.find(([, least]) => value >= least && value % (least / 64) === 0) ?? ["bytes", 1];
  return `${(value / size).toLocaleString("en-US")} ${name}`;
}

const SIZES: readonly [name: string, bytes: number][] = [
  ["GiB", 1024 ** 3],
  ["MiB", 1024 ** 2],
  ["KiB", 1024],
];
