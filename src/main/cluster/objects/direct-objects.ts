// Strategy Get: every use asks the API server.
import type { KeptObject, ObjectManager, ObjectManagerDeps } from "./object-manager.js";

export class DirectObjects<T extends KeptObject> implements ObjectManager<T> {
  constructor(private readonly deps: Pick<ObjectManagerDeps<T>, "client" | "kind">) {}

  get(namespace: string, name: string, signal: AbortSignal): Promise<T> {
    return this.deps.client.get(this.deps.kind, { namespace, name }, { signal });
  }

  wanted(): void {
    // Nothing is kept.
  }

  gone(): void {
    // Nothing is kept.
  }

  stop(): void {
    // Nothing goes on.
  }
}
