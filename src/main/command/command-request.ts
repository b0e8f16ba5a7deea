// The input that a command line needs, and the result of it.

import type { ConfigIo } from "./config/resolve-config.js";
import type { HostFacts } from "./rules/rule.js";
import type { Settings } from "./settings-of.js";

export interface CommandIo extends ConfigIo {
  /** Facts of this machine for the rules. */
  host(): HostFacts;
}

export type CommandRequest =
  /** `text` ends with a line break; it belongs on stdout when the exit code is 0, else on stderr. */
  { action: "print"; text: string; exitCode: 0 | 1 } | CheckRequest | { action: "run"; settings: Settings };

/** --check-config of a configuration that can be read: the files that it names are still to be examined. */
export interface CheckRequest {
  readonly action: "check";
  readonly settings: Settings;
  /** Problems that a start tolerates and the check refuses. */
  readonly problems: readonly string[];
  /** Files of the configuration, in the order of reading. */
  readonly files: readonly string[];
}
