// Events about a pod or the node, newest first. Pure.

import { timeOf } from "../../cli/output/amounts.js";
import type { Event } from "../../shared/kubernetes/api/event.js";
import type { VNode } from "../dom/vnode.js";
import { age, badge, note } from "./parts.js";
import { table } from "./table.js";

const SHOWN = 100;

export function eventsTable(caption: string, events: readonly Event[] | undefined, now: number): VNode {
  if (events === undefined) return note("Not known yet.");
  return table({
    caption,
    columns: [
      { title: "Reason", cell: ({ type, reason }) => badge(type === "Warning" ? "warn" : "plain", reason) },
      { title: "Last", number: true, cell: ({ lastTimestamp }) => age(timeOf(lastTimestamp), now) },
      {
        title: "Times",
        number: true,
        cell: ({ count }) => count,
      },
      { title: "Message", class: "message", cell: ({ message }) => message },
    ],
    rows: events.slice(-SHOWN).toReversed(),
    keyOf: ({ metadata }) => metadata.name,
    empty: "The kubelet has recorded no event about it.",
  });
}
