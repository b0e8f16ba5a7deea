// Config maps or secrets of this node's pods, for every strategy (configMapAndSecretChangeDetectionStrategy).

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { ApiClient, ApiObject, ResourceKind } from "../../../shared/kubernetes/api/client/port.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { ReferencedObjects } from "../../model/cluster-access.js";
import type { Follow } from "../watching.js";
import type { Reference } from "./references.js";

export interface ObjectManager<T> extends ReferencedObjects<T> {
  /** These are all the objects of this kind that the pod refers to; idempotent. */
  setReferences(uid: PodUid, namespace: string, names: ReadonlyMap<string, Reference>): void;
  podRemoved(uid: PodUid): void;
  stop(): void;
}

/** Objects that may be kept for ever once they are immutable. */
export interface KeptObject extends ApiObject {
  immutable?: boolean;
}

export interface ObjectManagerDeps<T extends KeptObject> {
  client: Pick<ApiClient, "get">;
  kind: ResourceKind<T>;
  clock: Clock;
  follow: Follow;
  /** An object that pods refer to has changed. */
  onChange(uids: readonly PodUid[]): void;
}

/** Upstream's name of the kind in messages: "configmap". */
export function wordOf({ resource }: { resource: string }): string {
  return resource.replace(/s$/, "");
}

/** Strategy Get: every use reads the object from the API server. */
export class DirectObjects<T extends KeptObject> implements ObjectManager<T> {
  constructor(private readonly deps: Pick<ObjectManagerDeps<T>, "client" | "kind">) {}

  get(namespace: string, name: string, signal: AbortSignal): Promise<T> {
    return this.deps.client.get(this.deps.kind, { namespace, name }, { signal });
  }

  setReferences(): void {
    // Nothing is kept.
  }

  podRemoved(): void {
    // Nothing is kept.
  }

  stop(): void {
    // There is no background work.
  }
}
