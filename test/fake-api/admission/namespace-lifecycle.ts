// Nothing is made in a namespace that does not exist or is going.

import { ApiError, forbidden, notFound } from "../../../src/workers/apiserver/objects/errors.js";
import type { Target, WriteContext } from "../registry/request.js";
import { resourceNamed } from "../resources.js";

export function admitNamespace({ resource, namespace, name }: Target, { world }: WriteContext): void {
  if (!resource.namespaced) return;
  const namespaces = resourceNamed("namespaces");
  const found = world.store.get(namespaces, namespace);
  if (found === undefined) throw notFound(namespaces, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const refusal = forbidden(resource, name, why);
  const cause = {
    reason: "NamespaceTerminating",
    message: `namespace ${namespace} is being terminated`,
    field: "metadata.namespace",
  };
  throw new ApiError(403, refusal.reason, refusal.message, { ...refusal.details, causes: [cause] });
}
