// A resize is refused while the pod's node is not known.
import { forbidden } from "../errors.js";
import { textAt, type ApiObject } from "../object.js";
import type { Target, WriteContext } from "../registry/request.js";
import { resourceNamed } from "../resources.js";

export function admitResize({ resource, name }: Target, old: ApiObject, { world }: WriteContext): void {
  const node = textAt(old.spec, "nodeName");
  if (node === undefined || world.store.get(resourceNamed("nodes"), node) !== undefined) return;
  throw forbidden(resource, name, `node "${node}" not found`);
}
