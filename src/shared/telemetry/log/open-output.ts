// Opens a file descriptor for the log. A write to a full pipe, terminal or socket returns 0 and does not block the
// thread. Node's exit waits for threads inside a call, so a reader that does not read could otherwise block it.

import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { Socket } from "node:net";

export interface LogOutput {
  /**
   * @returns bytes written, 0 when there is no room now. Throws when they can never be written: reader closed, disk
   * full.
   */
  write(bytes: Uint8Array): number;
  close(): void;
}

/** Makes calls that may block for a moment: for the log thread, or a process about to end. */
export function openOutput(fd: number): LogOutput {
  const stats = fstatSync(fd);
  if (stats.isFIFO() || stats.isCharacterDevice()) {
    const own = reopen(fd);
    if (own !== undefined) return new FdOutput(own, () => closeSync(own));
  }
  if (stats.isFIFO() || stats.isSocket()) {
    // A socket can't be opened a second time. libuv sets it to non-blocking, and leaves descriptors 0 to 2 open at the
    // end.
    const socket = new Socket({ fd, readable: false, writable: true });
    socket.on("error", () => undefined);
    socket.unref();
    return new FdOutput(fd, () => socket.destroy());
  }
  // A file accepts all bytes.
  return new FdOutput(fd, () => undefined);
}

/** Opens the pipe or terminal again, with separate flags: other processes that hold it keep theirs. */
function reopen(fd: number): number | undefined {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    // Another user's pipe, or a pipe without a reader.
    return undefined;
  }
}

class FdOutput implements LogOutput {
  constructor(
    private readonly fd: number,
    private readonly end: () => void,
  ) {}

  write(bytes: Uint8Array): number {
    try {
      return writeSync(this.fd, bytes);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EAGAIN") return 0;
      throw error;
    }
  }

  close(): void {
    this.end();
  }
}
