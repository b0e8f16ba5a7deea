// inotify(7) with all its events: Node's fs.watch has no IN_OPEN.
// The descriptor is part of the event loop's own epoll set: no thread waits for it, nothing is polled.

import { endianness } from "node:os";
import { faultPoint } from "../../base/faults/fault-points.js";
import { libc } from "./libc.js";
import { readDescriptor, type ReadableDescriptor } from "./readable.js";

export const IN = {
  MODIFY: 0x2,
  ATTRIB: 0x4,
  CLOSE_WRITE: 0x8,
  CLOSE_NOWRITE: 0x10,
  OPEN: 0x20,
  MOVED_FROM: 0x40,
  MOVED_TO: 0x80,
  CREATE: 0x100,
  DELETE: 0x200,
  DELETE_SELF: 0x400,
  MOVE_SELF: 0x800,
  /** The file system was unmounted. Comes unasked, as the next two do. */
  UNMOUNT: 0x2000,
  /** The kernel's queue was full: events were lost, of whichever watch. */
  Q_OVERFLOW: 0x4000,
  /** The kernel removed the watch: it was cancelled, or its file was deleted or unmounted. */
  IGNORED: 0x8000,
} as const;

export interface InotifyEvent {
  /** As `watch` returned it; -1 for Q_OVERFLOW. */
  watch: number;
  /** Bits of IN. */
  mask: number;
  /** Ties MOVED_FROM to MOVED_TO; otherwise 0. */
  cookie: number;
  /** Name in the watched directory; "" when the watched file itself is meant. */
  name: string;
}

export interface InotifyListener {
  onEvents(events: readonly InotifyEvent[]): void;
  /** The descriptor cannot be read any more: no event will follow. */
  onError(error: unknown): void;
}

const NONBLOCK = 0o4000;
const CLOEXEC = 0o2000000;
const HEADER_BYTES = 16;

/** Events in the order the kernel queued them. `bytes` holds whole records, as read(2) returns them. @internal */
export function parseInotify(bytes: Uint8Array): InotifyEvent[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const little = endianness() === "LE";
  const events: InotifyEvent[] = [];
  for (let at = 0; at + HEADER_BYTES <= bytes.length;) {
    const length = view.getUint32(at + 12, little);
    // The name is padded with NULs.
    const [name = ""] = Buffer.from(bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length))
      .toString()
      .split("\0", 1);
    events.push({
      watch: view.getInt32(at, little),
      mask: view.getUint32(at + 4, little),
      cookie: view.getUint32(at + 8, little),
      name,
    });
    at += HEADER_BYTES + length;
  }
  return events;
}

/** One inotify instance. Keeps the process alive until disposed or unref'd. @throws OsCallError: EMFILE, … */
export class Inotify implements Disposable {
  private readonly descriptor: ReadableDescriptor;

  constructor(listener: InotifyListener) {
    const about = "a new inotify instance";
    this.descriptor = readDescriptor(libc("inotify_init1", about, NONBLOCK | CLOEXEC), about);
    const { socket } = this.descriptor;
    // read(2) returns whole records only.
    socket.on("data", (bytes) => {
      if (socket.destroyed) return;
      faultPoint("inotify");
      listener.onEvents(parseInotify(bytes));
    });
    socket.once("error", (error) => listener.onError(error));
  }

  /** Begins to watch; on a path already watched the mask is replaced. Returns the watch's number. */
  watch(path: string, mask: number): number {
    return libc("inotify_add_watch", path, this.fd(), path, mask);
  }

  unwatch(watch: number): void {
    libc("inotify_rm_watch", `watch ${watch}`, this.fd(), watch);
  }

  unref(): this {
    this.descriptor.socket.unref();
    return this;
  }

  [Symbol.dispose](): void {
    this.descriptor.socket.destroy();
  }

  /** After the end the number may be another file's. */
  private fd(): number {
    if (this.descriptor.socket.destroyed) throw new Error("this inotify instance is closed: make a new one");
    return this.descriptor.fd;
  }
}
