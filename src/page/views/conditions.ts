// Conditions of a pod or the node. Pure.

import { timeOf } from "../../cli/output/amounts.js";
import type { NodeCondition } from "../../shared/kubernetes/api/node.js";
import type { PodCondition } from "../../shared/kubernetes/api/pod-status.js";
import type { VNode } from "../dom/vnode.js";
import { age, badge } from "./parts.js";
import { table } from "./table.js";

/** The rest of upstream's conditions, of pod and node, are good when they are True. */
const GOOD_WHEN_FALSE = /Pressure$|Unavailable$|^DisruptionTarget$|^PodResize/;

export function conditionsTable(
  caption: string,
  conditions: readonly (PodCondition | NodeCondition)[],
  now: number,
): VNode {
  return table({
    caption,
    columns: [
      { title: "Condition", cell: ({ type }) => type },
      {
        title: "Status",
        cell: ({ type, status }) => {
          const wanted = GOOD_WHEN_FALSE.test(type) ? "False" : "True";
          return badge(status === wanted ? "good" : "warn", status);
        },
      },
      { title: "Since", number: true, cell: ({ lastTransitionTime }) => age(timeOf(lastTransitionTime), now) },
      {
        title: "Reason",
        class: "message",
        cell: ({ reason = "", message = "" }) => [reason, message].filter((text) => text !== "").join(": ") || "–",
      },
    ],
    rows: conditions,
    keyOf: ({ type }) => type,
    empty: "There is no condition yet.",
  });
}
