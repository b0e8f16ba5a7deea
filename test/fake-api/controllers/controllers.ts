// As much of a control plane as pods need to reach a node: taints that follow the node's conditions, and a scheduler.

import { copyOf, isSame, listAt, type ApiObject, type Fields } from "../../../src/workers/apiserver/objects/object.js";
import { NOT_READY } from "../admission/taint-nodes.js";
import { resourceNamed } from "../resources.js";
import type { World } from "../world.js";
import { watchAndSchedule } from "./scheduler.js";

export function startControllers(world: World): () => void {
  const stops = [followConditions(world), watchAndSchedule(world)];
  return () => {
    for (const stop of stops) stop();
  };
}

/** The node lifecycle controller for a node that reports its status: taints follow its Ready condition. */
function followConditions(world: World): () => void {
  const nodes = resourceNamed("nodes");
  const look = (node: ApiObject): void => {
    const taints = wantedTaints(node);
    if (isSame(taints, listAt(node.spec, "taints"))) return;
    const next = copyOf(node);
    next.spec = { ...next.spec, taints };
    if (taints.length === 0) delete next.spec["taints"];
    world.store.put(nodes, next);
  };
  for (const [, node] of world.store.entries(nodes)) look(node);
  return world.store.subscribe(nodes, ({ type, key }) => {
    if (type === "DELETED") return;
    // After the change that caused it, so that watches see them in order.
    setImmediate(() => {
      const current = world.store.get(nodes, key);
      if (current !== undefined) look(current);
    });
  });
}

function wantedTaints(node: ApiObject): Fields[] {
  const others = listAt(node.spec, "taints").filter(({ key }) => key !== NOT_READY);
  const ready = listAt(node.status, "conditions").find(({ type }) => type === "Ready");
  if (ready?.["status"] === "True") return others;
  const noSchedule = { key: NOT_READY, effect: "NoSchedule" };
  return [...others, noSchedule, ...(ready?.["status"] === "False" ? [{ key: NOT_READY, effect: "NoExecute" }] : [])];
}
