// Following objects of the API by list and watch, as the parts of this folder ask for it: the client's Reflector, or in
// tests whatever plays its part.
import type { ApiObject, ResourceKind } from "../../shared/api/client/port.js";

/** @internal */
export interface FollowOptions<T extends ApiObject> {
  kind: ResourceKind<T>;
  namespace?: string;
  fieldSelector?: string;
  /** The complete list: at the start, and after every new list. */
  onReplace(objects: T[]): void;
  onEvent(event: { type: "ADDED" | "MODIFIED" | "DELETED"; object: T }): void;
  /** Reduces each object to the part to keep. */
  transform?: (object: T) => T;
}

/** Begins at once. @returns ends it; may be called from a callback */
export type Follow = <T extends ApiObject>(options: FollowOptions<T>) => () => void;
