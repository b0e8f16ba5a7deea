// Errors of system calls, in the form that Node gives them.

import { constants } from "node:os";

export class SystemError extends Error {
  readonly errno: number;
  constructor(
    readonly code: string,
    readonly syscall: string,
    readonly path: string,
  ) {
    super(`${code}: ${code.toLowerCase()}, ${syscall} '${path}'`);
    this.errno = -constants.errno[code as "ENOENT"];
  }
}
