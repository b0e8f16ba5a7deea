// Counts a kubelet's traffic at the API server: requests by verb and resource, bytes of bodies both ways, events of
// watches.

import type { ApiCall } from "../../test/fake-api/call-log.js";
import type { FakeApi } from "../../test/fake-api/fake-api.js";

/** Label of a row to its sum. */
export type Traffic = ReadonlyMap<string, number>;

/** Sums of all rows that every kubelet has, in the order in which they are shown. */
export const SUMS = [
  "requests",
  "KiB sent",
  "KiB received",
  "watches opened",
  "events of watches",
  "status patches, pods: KiB",
  "status patches, node: KiB",
] as const;

/** All traffic of the user so far. */
export function trafficOf(api: FakeApi, user: string): Traffic {
  const sums = new Map<string, number>(SUMS.map((label) => [label, 0]));
  const add = (label: string, amount: number): void => void sums.set(label, (sums.get(label) ?? 0) + amount);
  for (const call of api.calls.matching({ user })) {
    add("requests", 1);
    add("KiB sent", call.requestBytes / 1024);
    add("KiB received", call.answerBytes / 1024);
    add("events of watches", call.events);
    if (call.verb === "watch") add("watches opened", 1);
    const patched = statusPatchOf(call);
    if (patched !== undefined) add(patched, call.requestBytes / 1024);
    add(`  ${call.verb} ${call.resource}${call.subresource === "" ? "" : `/${call.subresource}`}`, 1);
  }
  return sums;
}

/** The traffic since `before`. */
export function since(before: Traffic, after: Traffic): Traffic {
  return new Map([...after].map(([label, sum]) => [label, sum - (before.get(label) ?? 0)]));
}

function statusPatchOf({ verb, resource, subresource }: ApiCall): (typeof SUMS)[number] | undefined {
  if (subresource !== "status" || verb !== "patch") return undefined;
  if (resource === "pods") return "status patches, pods: KiB";
  return resource === "nodes" ? "status patches, node: KiB" : undefined;
}
