// CPU and memory of pods and containers, against their limits. Pure.

import { bytes } from "../../cli/output/amounts.js";
import { aggregate } from "../../shared/kubernetes/api/aggregate-resources.js";
import type { ResourceList } from "../../shared/kubernetes/api/meta.js";
import { isSidecar, type Container, type Pod } from "../../shared/kubernetes/api/pod.js";
import { InvalidQuantityError, parseQuantity, type QuantityLike } from "../../shared/kubernetes/api/quantity.js";
import { h, type Child, type VNode } from "../dom/vnode.js";

export function cpuText(cpus: number): string {
  return `${Math.round(cpus * 1000)}m`;
}

export function cpuCell(used: number | undefined, limit: number | undefined): readonly Child[] {
  return usageCell(used, limit, cpuText, () => "warn");
}

export function memoryCell(used: number | undefined, limit: number | undefined): readonly Child[] {
  return usageCell(used, limit, bytes, (share) => (share > 0.9 ? "bad" : "warn"));
}

const HIGH = 0.8;

/** A container at its CPU limit is slowed down; at its memory limit it is killed. */
function usageCell(
  used: number | undefined,
  limit: number | undefined,
  text: (amount: number) => string,
  highTone: (share: number) => "warn" | "bad",
): readonly Child[] {
  if (used === undefined) return ["–"];
  if (limit === undefined || limit <= 0) return [text(used)];
  const share = Math.min(used / limit, 1);
  return [
    h("span", {}, text(used)),
    h("span", { class: "muted of" }, ` of ${text(limit)}`),
    meter(share, share > HIGH ? highTone(share) : "good"),
  ];
}

export function meter(share: number, tone: "good" | "warn" | "bad"): VNode {
  return h(
    "svg",
    { class: `bar meter ${tone}`, "aria-hidden": "true" },
    h("rect", { class: "track", width: "100%", height: "100%", rx: "2" }),
    h("rect", { width: `${Math.round(share * 1000) / 10}%`, height: "100%", rx: "2" }),
  );
}

type Resource = "cpu" | "memory";

/** Cores or bytes; undefined: not limited. */
export function containerLimit({ resources }: Pick<Container, "resources">, resource: Resource): number | undefined {
  return amount(resources?.limits?.[resource]);
}

/** A pod is limited by itself, or when all its containers are. */
export function podLimit({ spec }: Pod, resource: Resource): number | undefined {
  const own = amount(spec.resources?.limits?.[resource]);
  if (own !== undefined) return own;
  const limits = [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)].map((one) =>
    containerLimit(one, resource),
  );
  return limits.reduce((sum, limit) => (sum === undefined || limit === undefined ? undefined : sum + limit), 0);
}

/** What the pods request together; those that have ended need nothing. */
export function requested(pods: readonly Pod[], resource: string): number {
  const wanted = pods.filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed");
  if (resource === "pods") return wanted.length;
  return wanted.reduce((sum, { spec }) => sum + (amount(requestsOf(spec)[resource]) ?? 0), 0);
}

function requestsOf(spec: Pod["spec"]): Record<string, QuantityLike | undefined> {
  try {
    const sums = aggregate(spec, ({ resources }): ResourceList => ({ ...resources?.limits, ...resources?.requests }));
    return { ...Object.fromEntries(sums), ...spec.resources?.requests };
  } catch (error) {
    if (error instanceof InvalidQuantityError) return {};
    throw error;
  }
}

/** undefined: absent, or not a quantity. */
export function amount(quantity: QuantityLike | undefined): number | undefined {
  if (quantity === undefined) return undefined;
  try {
    return Number(parseQuantity(quantity).nanos) / 1e9;
  } catch (error) {
    if (error instanceof InvalidQuantityError) return undefined;
    throw error;
  }
}
