// The input and output of a validation rule. Rules are pure: they read the effective configuration through a view and
// return every violation; the reporter adds the origin of each value.

import type { FieldPath, FieldValue } from "../fields/fields.js";
import type { GateName } from "../gates/table.js";
import type { Violation } from "../violation.js";

/** The effective configuration: defaults, files, drop-ins and flags together. */
export interface ConfigView {
  get<P extends FieldPath>(path: P): FieldValue<P> | undefined;
  /** The operator set the field; its value is not just the default. */
  isSet(path: FieldPath): boolean;
  gate(name: GateName): boolean;
}

/** Facts of the machine; an unknown one (--check-config of another machine's file) is undefined. */
export interface HostFacts {
  readonly cgroupVersion?: 1 | 2 | undefined;
  /** Numbers of the CPUs that are online. */
  readonly onlineCpus?: readonly number[] | undefined;
}

export type Rule = (config: ConfigView, host: HostFacts) => Iterable<Violation>;
