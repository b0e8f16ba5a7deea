// Direct reads and writes for the set-up of tests, without HTTP, authorization and faults. Defaults and admission are
// those of an administrator's request, so a test's object equals a user's.

import {
  isFields,
  copyOf,
  type ApiObject,
  type Fields,
  type ObjectMeta,
} from "../../src/workers/apiserver/objects/object.js";
import { createObject } from "./registry/create.js";
import { removeObject } from "./registry/delete.js";
import { updateObject } from "./registry/update.js";
import { resourceNamed } from "./resources.js";
import { keyOf } from "./storage/store.js";
import { SYSTEM, type World } from "./world.js";

/** An object as a test writes it: kind and apiVersion come from the resource. */
export type Draft = Fields & { metadata: Partial<ObjectMeta> };

export class StoreView {
  constructor(
    private readonly world: World,
    private readonly furnish: () => void,
  ) {}

  /** Newest resourceVersion of any object. */
  get revision(): number {
    return this.world.store.revision;
  }

  /** `resource`: "pods", "leases.coordination.k8s.io", or a plural or kind that is served once. */
  get(resource: string, namespace: string, name: string): ApiObject | undefined {
    const found = this.world.store.get(resourceNamed(resource), keyOf(namespace, name));
    return found === undefined ? undefined : copyOf(found);
  }

  list(resource: string, namespace?: string): ApiObject[] {
    return this.world.store
      .entries(resourceNamed(resource))
      .filter(([, { metadata }]) => namespace === undefined || metadata.namespace === namespace)
      .map(([, object]) => copyOf(object));
  }

  /** Makes the object, or replaces what it says of spec, status and the rest. A status is kept as it is written. */
  put(resource: string, draft: Draft): ApiObject {
    const of = resourceNamed(resource);
    const namespace = of.namespaced ? (draft.metadata.namespace ?? "default") : "";
    const target = { resource: of, namespace, name: draft.metadata.name ?? "" };
    const context = { world: this.world, user: SYSTEM, dryRun: false };
    const existing = this.world.store.get(of, keyOf(namespace, target.name));
    const body = { ...copyOf(draft), metadata: { ...draft.metadata, name: target.name } } as unknown as ApiObject;
    delete body.metadata.resourceVersion;
    const change = (old: ApiObject): ApiObject => ({
      ...old,
      ...body,
      metadata: { ...old.metadata, ...body.metadata },
    });
    const stored =
      existing === undefined ? createObject(target, body, context) : updateObject(target, "", change, context);
    const { status } = draft;
    if (!of.status || !isFields(status)) return copyOf(stored);
    const named = { ...target, name: stored.metadata.name };
    const withStatus = (old: ApiObject): ApiObject => ({ ...old, status: { ...old.status, ...status } });
    return copyOf(updateObject(named, "status", withStatus, context));
  }

  /** Takes the object away at once, without grace and finalizers. */
  remove(resource: string, namespace: string, name: string): ApiObject | undefined {
    const of = resourceNamed(resource);
    const target = { resource: of, namespace: of.namespaced ? namespace : "", name };
    const stored = this.world.store.get(of, keyOf(target.namespace, name));
    if (stored === undefined) return undefined;
    return removeObject(target, stored, { world: this.world, user: SYSTEM, dryRun: false });
  }

  /** Older versions are answered with 410 from now on. */
  compact(): void {
    this.world.store.compact();
  }

  /** As if etcd's disk was lost: all objects go, versions begin anew, the server's own objects are made again. */
  wipe(): void {
    this.world.store.wipe();
    this.furnish();
    this.world.store.compact();
  }
}
