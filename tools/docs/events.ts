// docs/reference/events.md: the table of event reasons.

import { EVENT_REASONS } from "../../src/shared/kubernetes/api/event-reasons.js";
import { code, heading, table } from "./table.js";

export function eventsPage(): string {
  const rows = Object.entries(EVENT_REASONS)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([reason, { about, types, meaning }]) => [code(reason), about.join(", "), types.join(", "), meaning]);
  rows.push([
    code("OutOf<resource>"),
    "Pod",
    "Warning",
    "admission rejected the pod: the node has too little of the resource",
  ]);
  return [
    ...heading("Events", [
      "Every reason of an event that the kubelet emits. `nodelet events` shows the newest 2,000; in a cluster they are also sent to the API server.",
      "Reasons are upstream's. Equal events are counted, and more than 25 of one type at once about one object are dropped.",
    ]),
    ...table(["reason", "object", "type", "meaning"], rows),
  ].join("\n");
}
