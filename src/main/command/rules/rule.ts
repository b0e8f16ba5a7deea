// The input and output of a validation rule. Rules are pure: they read the effective configuration through a view and
// return every violation; the reporter adds the origin of each value.
import type { FieldPath, FieldValue } from "../config/fields.js";
import type { GateName } from "../gates/table.js";

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

export interface Violation {
  /**
   * Path of a field and of the part inside it: `evictionHard[memory.available]`, `registerWithTaints[0].effect`; or a
   * flag: `--node-labels`.
   */
  readonly path: string;
  /** The value and the allowed values: `101 is not a percentage from 0 to 100`. */
  readonly message: string;
  /** Upstream's kubelet starts with it. So does this one, with a warning; --check-config refuses it. */
  readonly isTolerated?: true;
}

export type Rule = (config: ConfigView, host: HostFacts) => Iterable<Violation>;
