// Namespaces, and what the controllers of a control plane put into a new one: its default service account and the CA.

import { randomUUID } from "node:crypto";
import type { Clock } from "../../../src/shared/base/clock/clock.js";
import {
  nowText,
  type ApiObject,
  type Fields,
  type ObjectMeta,
} from "../../../src/workers/apiserver/objects/object.js";
import { ensureFields } from "../fields.js";
import { apiVersionOf, resourceNamed, type Resource } from "../resources.js";
import { keyOf } from "../storage/store.js";
import type { World } from "../world.js";
import type { Strategy } from "./strategy.js";

const FINALIZER = "kubernetes";

export const namespaceStrategy: Strategy = {
  defaults(namespace) {
    namespace.metadata.labels = {
      ...namespace.metadata.labels,
      "kubernetes.io/metadata.name": namespace.metadata.name,
    };
  },
  prepareCreate(namespace) {
    ensureFields(namespace, "spec")["finalizers"] = [FINALIZER];
    namespace.status = { phase: "Active" };
  },
  created: furnish,
};

function furnish(namespace: ApiObject, world: World): void {
  const { name } = namespace.metadata;
  put(world, "ServiceAccount", name, "default", {});
  put(world, "ConfigMap", name, "kube-root-ca.crt", { data: { "ca.crt": world.authority.ca } });
}

const ANNOTATIONS = {
  "kubernetes.io/description":
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the " +
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.",
};

function put(world: World, kind: string, namespace: string, name: string, fields: Record<string, unknown>): void {
  const resource = resourceNamed(kind);
  if (world.store.get(resource, keyOf(namespace, name)) !== undefined) return;
  const metadata = { name, namespace, ...(kind === "ConfigMap" ? { annotations: ANNOTATIONS } : {}) };
  world.store.put(resource, newObject(resource, world.clock, { metadata, ...fields }));
}

/** An object with the metadata that a new one gets. */
function newObject(
  resource: Resource,
  clock: Clock,
  fields: Fields & { metadata: Partial<ObjectMeta> & { name: string } },
): ApiObject {
  const { metadata, ...rest } = fields;
  return {
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    metadata: { ...metadata, uid: randomUUID(), creationTimestamp: nowText(clock) },
    ...rest,
  };
}
