// Lets the event loop read a descriptor that Node has no class for (inotify, a unix datagram socket), as a net.Socket.
// Node checks a descriptor's kind only when it creates the socket. The loop polls it only at its next turn. So the
// socket is created on a pipe, and our descriptor takes the pipe's number before that turn. No thread waits, callbacks
// run as for every socket (promises included), and an exit or a terminated thread closes it in order. koffi's own poll
// handle was tried first: an event that arrives while Node cleans up aborts the process.

import { Socket } from "node:net";
import { libc } from "./libc.js";

const O_NONBLOCK = 0o4000;
const O_CLOEXEC = 0o2000000;

export interface ReadableDescriptor {
  /** One `data` event per read(2). Destroy it to close the descriptor. Keeps the process alive until unref'd. */
  readonly socket: Socket;
  /** The descriptor's new number, while the socket is not destroyed. */
  readonly fd: number;
}

/**
 * Takes the descriptor over, which must not block; its old number is closed, in case of an error too.
 * @throws OsCallError
 */
export function readDescriptor(fd: number, about: string): ReadableDescriptor {
  const ends = new Int32Array(2);
  let socket: Socket | undefined;
  try {
    libc("pipe2", about, new Uint8Array(ends.buffer), O_NONBLOCK | O_CLOEXEC);
    const [readEnd = -1, writeEnd = -1] = ends;
    try {
      socket = new Socket({ fd: readEnd, readable: true, writable: false });
      libc("dup3", about, fd, readEnd, O_CLOEXEC);
      return { socket, fd: readEnd };
    } finally {
      libc("close", about, writeEnd);
    }
  } catch (error) {
    socket?.destroy();
    throw error;
  } finally {
    libc("close", about, fd);
  }
}
