// Errors of system calls, in the form that Node gives them. As there, they have no stack of callers; it would be most
// of their cost.

import { constants } from "node:os";

export class SystemError extends Error {
  readonly errno: number;
  constructor(
    readonly code: string,
    readonly syscall: string,
    readonly path: string,
  ) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(`${code}: ${code.toLowerCase()}, ${syscall} '${path}'`);
    Error.stackTraceLimit = stackTraceLimit;
    this.errno = -constants.errno[code as "ENOENT"];
  }
}
