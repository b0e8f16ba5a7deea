// Shared readings of the simulated machine. A reading never ends if its kubelet is killed meanwhile. A module's value
// outlives that kubelet here: the next one would share that reading for ever. So each process and thread has its own.

import { sharedRead as sharedInOneProcess } from "../../../src/shared/base/turns/shared-read.js";
import { kernel } from "../kernel/kernel.js";
import type { Owner } from "../kernel/owner.js";

export function sharedRead<T>(read: () => Promise<T>): () => Promise<T> {
  const byOwner = new WeakMap<Owner, () => Promise<T>>();
  return () => {
    const owner = kernel.current;
    let own = byOwner.get(owner);
    if (own === undefined) byOwner.set(owner, (own = sharedInOneProcess(read)));
    return own();
  };
}
