// What the node has, what pods may use, and what they request. Pure.

import { bytes } from "../../cli/output/amounts.js";
import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { NodeFacts } from "../../shared/contracts/nodelet.js";
import type { NodeCondition } from "../../shared/kubernetes/api/node.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { VNode } from "../dom/vnode.js";
import { h } from "../dom/vnode.js";
import { table } from "./table.js";
import { amount, cpuText, meter, requested } from "./usage.js";

export function resourcesTable({ capacity, allocatable }: NodeFacts, pods: readonly Pod[]): VNode {
  return table({
    caption: "Resources of the node",
    columns: [
      { title: "Resource", cell: (name) => name },
      { title: "Capacity", number: true, cell: (name) => shown(name, amount(capacity[name])) },
      { title: "Allocatable", number: true, cell: (name) => shown(name, amount(allocatable[name])) },
      {
        title: "Requested by pods",
        number: true,
        cell: (name) => {
          const [most, used] = [amount(allocatable[name]) ?? 0, requested(pods, name)];
          const share = most === 0 ? 0 : Math.min(used / most, 1);
          return [
            h("span", {}, shown(name, used)),
            h("span", { class: "muted" }, most === 0 ? "" : ` ${Math.round((used / most) * 100)} %`),
            meter(share, share > 0.9 ? "warn" : "good"),
          ];
        },
      },
    ],
    rows: Object.keys(capacity),
    keyOf: (name) => name,
    empty: "Not known yet.",
  });
}

function shown(name: string, value: number | undefined): string {
  if (value === undefined) return "–";
  if (name === "cpu") return Number.isInteger(value) ? String(value) : cpuText(value);
  return /^memory$|storage$|^hugepages-/.test(name) ? bytes(value) : String(value);
}

const PRESSURES = ["MemoryPressure", "DiskPressure", "PIDPressure"] as const;

/** A stand-alone node has no Node object: the same conditions, from the same facts. */
export function nodeConditions(facts: NodeFacts): NodeCondition[] {
  if (facts.conditions !== undefined) return facts.conditions;
  const { runtime, runtimeSince, pressures } = facts;
  const time = (at: number): string => new Date(at).toISOString();
  const ready = runtime !== undefined && runtime.reachable && runtime.runtimeReady && runtime.networkReady;
  return [
    omitUndefined({
      type: "Ready",
      status: runtime === undefined ? "Unknown" : ready ? "True" : "False",
      lastTransitionTime: runtimeSince !== undefined ? time(runtimeSince) : undefined,
      reason: runtime !== undefined && !ready ? "KubeletNotReady" : undefined,
      message: runtime !== undefined && !ready ? runtime.message : undefined,
    }),
    ...PRESSURES.map((type): NodeCondition => {
      const pressure = pressures.find((one) => one.type === type);
      return pressure === undefined
        ? { type, status: "False" }
        : { type, status: "True", lastTransitionTime: time(pressure.since) };
    }),
  ];
}
