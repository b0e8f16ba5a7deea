// Errors of a kubeconfig.

import { OperatorError } from "../../../../base/errors/operator-error.js";

/** The file can't be used; the message names file, line and field, never a value that may be secret. */
export class KubeconfigError extends OperatorError {
  override readonly name = "KubeconfigError";
  readonly code = "KUBECONFIG";
  constructor(
    readonly file: string,
    /** "users[0].user.exec.command"; "" for the file as a whole. */
    readonly field: string,
    /** 1 for the first; undefined when there is no place for it. */
    readonly line: number | undefined,
    readonly problem: string,
    options?: ErrorOptions,
  ) {
    super(
      `kubeconfig ${file}${line === undefined ? "" : `:${line}`}: ${field === "" ? "" : `${field}: `}${problem}`,
      options,
    );
  }
}
