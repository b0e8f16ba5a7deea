// The differences between resources when an object is written. The order is the server's: defaults when it is decoded,
// then admission, then `prepare`, then validation.

import type { FieldError } from "../../../src/workers/apiserver/objects/errors.js";
import type { ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import type { User, World } from "../world.js";

/** A subresource through which an object is changed; "" is the object itself. */
export type Subresource = string;

export interface Strategy {
  defaults?(object: ApiObject): void;
  prepareCreate?(object: ApiObject, world: World, user: User): void;
  /** Rules that hold for new objects; `validateUpdate` for changes. */
  validate?(object: ApiObject): FieldError[];
  prepareUpdate?(next: ApiObject, old: ApiObject, subresource: Subresource, world: World): void;
  validateUpdate?(next: ApiObject, old: ApiObject, subresource: Subresource, world: World): FieldError[];
  /** Further effects, as controllers of the control plane have them. */
  created?(object: ApiObject, world: World): void;
  updated?(object: ApiObject, world: World): void;
  deleted?(object: ApiObject, world: World): void;
}
