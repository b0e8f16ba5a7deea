// Errors of system calls: the kernel refused a call, or the native binding is missing.

import { getSystemErrorName } from "node:util";
import { messageOf } from "../../base/errors/thrown.js";

/** A system call that the kernel refused. */
export class OsCallError extends Error {
  override readonly name = "OsCallError";
  /** "EAGAIN", "EPERM", … as in Node's own errors. */
  readonly code: string;

  /**
   * @param call Name of the call, e.g. "flock".
   * @param about The object of the call: "lock file /run/kubelet.lock".
   * @param hint What to do, where that is known.
   */
  constructor(
    readonly call: string,
    readonly errno: number,
    readonly about: string,
    hint = "",
  ) {
    const code = getSystemErrorName(-errno);
    super(`${call}(2) of ${about} failed: ${code}${hint === "" ? "" : `; ${hint}`}`);
    this.code = code;
  }
}

/** The binding could not be loaded: no system call of shared/io/os works, all of Node's own do. */
export class NativeBindingError extends Error {
  override readonly name = "NativeBindingError";
  constructor(cause: unknown) {
    super(
      `cannot load the native binding koffi on ${process.platform}-${process.arch}: ` +
        `${messageOf(cause)}; ` +
        `install with optional dependencies (npm ci, without --omit=optional) on the machine's own platform`,
      { cause },
    );
  }
}

/** Any refused call, or one refused with this code: `isOsCallError(error, "EPERM")`. */
export const isOsCallError = (error: unknown, code?: string): error is OsCallError =>
  error instanceof OsCallError && (code === undefined || error.code === code);
