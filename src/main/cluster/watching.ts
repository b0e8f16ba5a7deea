// Follows objects of the API by list and watch, for the parts of this folder. Production uses the client's Reflector,
// and tests use a substitute.

import type { ApiObject, ResourceKind } from "../../shared/kubernetes/api/client/port.js";

/** @internal */
export interface FollowOptions<T extends ApiObject> {
  kind: ResourceKind<T>;
  namespace?: string;
  fieldSelector?: string;
  /** The complete list: at the start, and after every new list. */
  onReplace(objects: T[]): void;
  onEvent(event: { type: "ADDED" | "MODIFIED" | "DELETED"; object: T }): void;
  /** Reduces each object to the part to keep. */
  transform?: ((object: T) => T) | undefined;
}

/** Begins at once. @returns ends it; may be called from a callback */
export type Follow = <T extends ApiObject>(options: FollowOptions<T>) => () => void;
