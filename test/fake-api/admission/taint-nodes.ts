// The TaintNodesByCondition plug-in: a new node takes no pods until a controller has seen it Ready.

import { listAt, type ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import { ensureFields } from "../fields.js";

export const NOT_READY = "node.kubernetes.io/not-ready";

export function taintNotReady(node: ApiObject): void {
  const spec = ensureFields(node, "spec");
  const taints = listAt(spec, "taints");
  if (taints.some(({ key, effect }) => key === NOT_READY && effect === "NoSchedule")) return;
  spec["taints"] = [...taints, { key: NOT_READY, effect: "NoSchedule" }];
}
