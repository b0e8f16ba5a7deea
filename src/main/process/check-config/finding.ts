// What --check-config finds in the files that the configuration and the flags name.

export interface Finding {
  /** Upstream's kubelet does not start with an error; it starts with a warning, and something else does not work. */
  readonly severity: "error" | "warning";
  /** A field or a flag, as in Violation; "": the message names its place. */
  readonly path: string;
  /** One line with what to do. */
  readonly message: string;
}

export const error = (path: string, message: string): Finding => ({ severity: "error", path, message });
export const warning = (path: string, message: string): Finding => ({ severity: "warning", path, message });
