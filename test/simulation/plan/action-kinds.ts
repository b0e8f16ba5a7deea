// Which events of a plan are no faults, and which are faults of one kind only: promises excuse different ones.

import type { Action } from "./events.js";

/** Users and the plan itself do them. */
export const NO_FAULTS: ReadonlySet<Action["do"]> = new Set([
  "create",
  "edit",
  "resize",
  "delete",
  "delete-by-force",
  "delete-mirror",
  "aim",
  "pull-cut",
  "compression-killed",
  "log-read",
  "node-asked",
  "stream-opened",
  "claim-grows",
  "config-changes",
  "config-removed",
  "health-changes",
  "health-quiet",
  "health-streams-end",
  "calm",
  "check",
  "images-pulled",
  "map-set",
  "map-removed",
  "file-edited",
  "objects-followed",
  "followers-cut",
  "viewers-named",
  "map-filled",
]);
/** What they disturb is noted by themselves. */
export const SHUTDOWNS: ReadonlySet<Action["do"]> = new Set(["shutdown"]);
/** Programs beside the pods take what these need. */
export const SHORTAGES: ReadonlySet<Action["do"]> = new Set(["memory-short", "disk-short", "disk-full", "pids-short"]);
/** The kubelet's process ends, and nothing else happens. */
export const ENDS_OF_KUBELET: ReadonlySet<Action["do"]> = new Set(["kill", "restart", "upgrade"]);
