// What differs between kinds when an object is written.

import type { FieldError } from "../objects/errors.js";
import type { ApiObject } from "../objects/object.js";
import type { WriteContext } from "../world.js";

export interface Strategy {
  /** Defaults and the first status; changes the object. */
  prepareCreate?(object: ApiObject, context: WriteContext): void;
  /** Changes `next`. */
  prepareUpdate?(next: ApiObject, old: ApiObject, subresource: string): void;
  validate?(object: ApiObject): FieldError[];
  validateUpdate?(next: ApiObject, old: ApiObject, subresource: string): FieldError[];
  /** True for an update that has no use after a loss of power: it is not written to disk by itself. */
  isFleeting?(next: ApiObject, old: ApiObject): boolean;
  /** What follows from a new object, in the same change. */
  created?(object: ApiObject, context: WriteContext): void;
  /** What follows from its end. */
  deleted?(object: ApiObject, context: WriteContext): void;
}
