// The connection to the runtime's streaming server. It ends with the container, often while the client still sends.
// Invariant: all bytes that the runtime sent before the connection ended are read, also if the end is a reset or a
// write that fails. Node discards bytes that were not read yet in both cases.

import { connect, type Socket, type SocketConstructorOpts } from "node:net";
import type { DuplexOptions } from "node:stream";

/** Nothing is read ahead: a reset of the connection is noticed only when all bytes before it were passed on. */
const READ_AHEAD: SocketConstructorOpts & Pick<DuplexOptions, "readableHighWaterMark"> = { readableHighWaterMark: 1 };

type Written = (error?: Error | null) => void;

export function connectRuntime(url: URL): Socket {
  const port = Number(url.port === "" ? 80 : url.port);
  // An address of IPv6 stands in brackets in a URL.
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return connect({ ...READ_AHEAD, host, port });
}

/** A failed write ends only the writing. The reader meets the end of the connection after its last bytes. */
export function readToTheEnd(socket: Socket): void {
  const write = socket._write.bind(socket);
  const writeMany = socket._writev?.bind(socket);
  const only =
    (done: Written): Written =>
    () =>
      done();
  socket._write = (part, encoding, done) => write(part, encoding, only(done));
  if (writeMany !== undefined) socket._writev = (parts, done) => writeMany(parts, only(done));
}
