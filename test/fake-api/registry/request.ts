// The context of a write.

import type { Resource } from "../resources.js";
import type { User, World } from "../world.js";

export interface Target {
  resource: Resource;
  /** "" when the resource has none. */
  namespace: string;
  name: string;
}

export interface WriteContext {
  world: World;
  user: User;
  /** Everything is checked, nothing kept. */
  dryRun: boolean;
}
