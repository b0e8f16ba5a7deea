// The pods that refer to each object of one kind. Keys are "namespace/name".

import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { Reference } from "./references.js";

export class ReferenceIndex {
  private readonly byPod = new Map<PodUid, ReadonlyMap<string, Reference>>();
  private readonly users = new Map<string, Map<PodUid, Reference>>();

  /**
   * Sets the references of the pod. @returns keys that the pod did not refer to before, and keys without references now
   */
  set(uid: PodUid, namespace: string, names: ReadonlyMap<string, Reference>): { added: string[]; unused: string[] } {
    const before = this.byPod.get(uid) ?? new Map<string, Reference>();
    const now = new Map([...names].map(([name, reference]) => [keyOf(namespace, name), reference]));
    if (now.size === 0) this.byPod.delete(uid);
    else this.byPod.set(uid, now);
    for (const [key, reference] of now) {
      const users = this.users.get(key) ?? new Map<PodUid, Reference>();
      this.users.set(key, users.set(uid, reference));
    }
    const dropped = [...before.keys()].filter((key) => !now.has(key));
    for (const key of dropped) {
      const users = this.users.get(key);
      users?.delete(uid);
      if (users?.size === 0) this.users.delete(key);
    }
    return {
      added: [...now.keys()].filter((key) => !before.has(key)),
      unused: dropped.filter((key) => !this.users.has(key)),
    };
  }

  usersOf(key: string): PodUid[] {
    return [...(this.users.get(key)?.keys() ?? [])];
  }

  /** A volume of at least one pod refers to the object. */
  inVolume(key: string): boolean {
    return [...(this.users.get(key)?.values() ?? [])].some(({ inVolume }) => inVolume);
  }
}

export function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
