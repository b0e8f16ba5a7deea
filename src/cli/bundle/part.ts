// One part of a support bundle: a file of the archive, and how it is made.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { Context } from "../context.js";
import type { BundleClient } from "./bundle-client.js";
import type { Secrets } from "./secrets.js";

export interface Part {
  name: string;
  /** For longer work than most. */
  deadlineMs?: number;
  /** Upper bound; the rest is left out. */
  bytes?: number;
  /** Which end is left in a text that is too long; default: the beginning. */
  keep?: "end";
  /** Programs that it runs end with the signal. */
  read: (signal: AbortSignal) => Promise<string>;
}

/** What parts are made of. */
export interface Sources {
  client: BundleClient;
  context: Context;
  clock: Clock;
  secrets: Secrets;
}

export function pretty(data: unknown): string {
  return `${JSON.stringify(data, undefined, 1)}\n`;
}
