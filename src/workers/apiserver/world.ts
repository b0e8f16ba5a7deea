// What every request works with.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { User } from "../server/auth/user.js";
import type { Resource } from "./objects/resource.js";
import type { Store } from "./store/store.js";
import type { Transaction } from "./store/transaction.js";

export interface World {
  readonly store: Store;
  readonly clock: Clock;
  readonly nodeName: string;
  /** Folder of the volumes of claims. */
  readonly volumesDir: string;
}

/** An object of a request. */
export interface Target {
  readonly resource: Resource;
  /** "" for a resource without namespaces. */
  readonly namespace: string;
  readonly name: string;
}

/** One change, with the transaction that it reads and writes. */
export interface WriteContext {
  readonly world: Omit<World, "store">;
  readonly tx: Transaction;
  readonly user: User;
  readonly dryRun: boolean;
  /** fieldValidation of the request. */
  readonly unknownFields: "Strict" | "Warn" | "Ignore";
  /** For Warning headers. */
  readonly warnings: string[];
  /** The change removes everything of a namespace: no single removal asks whether it was the last one. */
  readonly isEmptying?: true;
}
