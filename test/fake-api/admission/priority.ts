// The Priority plug-in: a class's name becomes its number.

import { forbidden } from "../../../src/workers/apiserver/objects/errors.js";
import { textAt, type ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import type { WriteContext } from "../registry/request.js";
import { resourceNamed } from "../resources.js";

export function admitPriority(pod: ApiObject, { world }: WriteContext): void {
  const spec = pod.spec ?? {};
  const classes = resourceNamed("priorityclasses");
  const pods = resourceNamed("pods");
  let name = textAt(spec, "priorityClassName");
  let found = name === undefined ? undefined : world.store.get(classes, name);
  if (name !== undefined && found === undefined) {
    throw forbidden(pods, pod.metadata.name, `no PriorityClass with name ${name} was found`);
  }
  if (name === undefined) {
    const standard = world.store.entries(classes).find(([, { globalDefault }]) => globalDefault === true);
    found = standard?.[1];
    name = found?.metadata.name;
    if (name !== undefined) spec["priorityClassName"] = name;
  }
  const value = typeof found?.["value"] === "number" ? found["value"] : 0;
  if (typeof spec["priority"] === "number" && spec["priority"] !== value) {
    const why = `the integer value of priority (${spec["priority"]}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`;
    throw forbidden(pods, pod.metadata.name, why);
  }
  spec["priority"] = value;
  spec["preemptionPolicy"] ??= found?.["preemptionPolicy"] ?? "PreemptLowerPriority";
}
