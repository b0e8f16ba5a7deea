// The RuntimeClass plug-in: a class that exists brings its overhead and node selector.

import { forbidden } from "../../../src/workers/apiserver/objects/errors.js";
import {
  copyOf,
  fieldsAt,
  isFields,
  listAt,
  textAt,
  type ApiObject,
} from "../../../src/workers/apiserver/objects/object.js";
import type { WriteContext } from "../registry/request.js";
import { resourceNamed } from "../resources.js";

export function admitRuntimeClass(pod: ApiObject, { world }: WriteContext): void {
  const spec = pod.spec ?? {};
  const name = textAt(spec, "runtimeClassName");
  if (name === undefined) return;
  const found = world.store.get(resourceNamed("runtimeclasses"), name);
  if (found === undefined) {
    const why = `pod rejected: RuntimeClass "${name}" not found`;
    throw forbidden(resourceNamed("pods"), pod.metadata.name, why);
  }
  const overhead = fieldsAt(found, "overhead")["podFixed"];
  if (isFields(overhead)) spec["overhead"] ??= copyOf(overhead);
  const scheduling = fieldsAt(found, "scheduling");
  const selector = fieldsAt(scheduling, "nodeSelector");
  if (Object.keys(selector).length > 0) spec["nodeSelector"] = { ...fieldsAt(spec, "nodeSelector"), ...selector };
  const tolerations = listAt(scheduling, "tolerations");
  if (tolerations.length > 0) spec["tolerations"] = [...listAt(spec, "tolerations"), ...copyOf(tolerations)];
}
