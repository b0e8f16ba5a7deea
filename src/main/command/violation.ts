// A setting that a rule refuses. The reporter adds the origin of the value.

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
