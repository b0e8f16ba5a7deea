// The other end of systemd's notify socket: a bound unix datagram socket, by path or abstract name.

import koffi from "koffi";
import { unixAddress } from "../../src/shared/io/os/datagram.js";
import { libc } from "../../src/shared/io/os/libc.js";
import { readDescriptor, type ReadableDescriptor } from "../../src/shared/io/os/readable.js";

const library = koffi.load(null);
const socket = library.func("int socket(int, int, int)") as (domain: number, type: number, protocol: number) => number;
const bind = library.func("int bind(int, const void *, uint32_t)") as (
  fd: number,
  to: Uint8Array,
  size: number,
) => number;
const DGRAM_NONBLOCK_CLOEXEC = 2 | 0o4000 | 0o2000000;

export class DatagramReceiver implements Disposable {
  readonly received: string[] = [];
  private readonly fd: number;
  private readonly wakers: (() => void)[] = [];
  private readable: ReadableDescriptor | undefined;

  /** Bound at once; nothing is taken out of the queue before `listen`. */
  constructor(readonly address: string) {
    this.fd = socket(1, DGRAM_NONBLOCK_CLOEXEC, 0);
    const name = unixAddress(address);
    if (this.fd < 0 || bind(this.fd, name, name.length) < 0) throw new Error(`bind ${address}: ${koffi.errno()}`);
  }

  listen(): this {
    this.readable = readDescriptor(this.fd, this.address);
    this.readable.socket.on("data", (bytes) => {
      this.received.push(bytes.toString());
      for (const wake of this.wakers.splice(0)) wake();
    });
    return this;
  }

  /** Resolves once what was received meets the condition; the test's own time limit is the deadline. */
  async until(met: (received: readonly string[]) => boolean): Promise<readonly string[]> {
    while (!met(this.received)) await new Promise<void>((resolve) => this.wakers.push(resolve));
    return this.received;
  }

  [Symbol.dispose](): void {
    if (this.readable === undefined) libc("close", this.address, this.fd);
    else this.readable.socket.destroy();
  }
}
