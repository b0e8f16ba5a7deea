// docs/adr/README.md: the index of decisions, made of the first lines of each record. The third line of a record has
// its area and status:
//
//   # 0052: Fair queue for TLS handshakes
//
//   Area: Server. Status: accepted 2026-11-23.

import { heading, table } from "./table.js";

const AREAS = [
  "Sync",
  "Threads and queues",
  "Runtime and images",
  "Volumes and files",
  "Resources of the node",
  "Cluster",
  "Server",
  "Configuration and input",
  "Packages, tests and documentation",
];

const HEAD = /^# (\d{4}): (.+)\n\nArea: ([^.]+)\. Status: (.+?)\.(?: [^\n]*)?\n/;

/** `records`: text by file name. @throws Error for a record whose first lines are not as above */
export function decisionsPage(records: ReadonlyMap<string, string>): string {
  const rows = [...records].sort(([a], [b]) => a.localeCompare(b)).map(([file, text]) => rowOf(file, text));
  return [
    ...heading("Architecture decision records", [
      "A record states one decision in at most 450 words: context, decision, what was rejected, consequences. It is true today: a change of a decision edits its record in the same",
      "commit. A decision that no longer holds is marked superseded, with its successor. Comments cite a record by its number, for example docs/adr/0004. Terms are in",
      "[the glossary](../glossary.md), figures in [Measurements](../measurements/README.md). A missing number was reserved and not used.",
    ]),
    ...AREAS.flatMap((area) => [
      `## ${area}`,
      "",
      ...table(
        ["record", "decision", "status"],
        rows.filter((row) => row.area === area).map(({ cells }) => cells),
      ),
    ]),
  ].join("\n");
}

function rowOf(file: string, text: string): { area: string; cells: string[] } {
  const [, number = "", title = "", area = "", status = ""] = HEAD.exec(text) ?? [];
  if (!AREAS.includes(area)) {
    throw new Error(
      `docs/adr/${file} does not begin with "# NNNN: title", and "Area: <one of ${AREAS.join(", ")}>. Status: accepted <date>."`,
    );
  }
  return { area, cells: [`[${number}](${file})`, title, status] };
}
