// Datagrams to a unix socket, by path or abstract name: Node has stream sockets of this family only.
// A send never blocks; a receiver whose queue is full makes it fail with EAGAIN.

import { endianness } from "node:os";
import { OperatorError } from "../../base/errors/operator-error.js";
import { libc } from "./libc.js";

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
/** A receiver that went away is an error, not a signal. */
const MSG_NOSIGNAL = 0x4000;

/** sizeof(sun_path) */
const PATH_BYTES = 108;

/** A name that cannot be a unix socket's. */
function socketAddressError(address: string, why: string): OperatorError {
  return new OperatorError(
    `${JSON.stringify(address)} is no unix socket address: ${why}; give an absolute path or @name`,
  );
}

/** sockaddr_un: "/run/x" is a path, "@x" an abstract name. @internal */
export function unixAddress(address: string): Uint8Array {
  const bytes = Buffer.from(address);
  const abstract = address.startsWith("@");
  if (!abstract && !address.startsWith("/")) throw socketAddressError(address, "it starts with neither / nor @");
  if (bytes.length < 2) throw socketAddressError(address, "it has no name");
  if (bytes.includes(0)) throw socketAddressError(address, "it holds a NUL");
  // A path ends with a NUL; an abstract name is as long as the address says.
  const length = abstract ? bytes.length : bytes.length + 1;
  if (length > PATH_BYTES) throw socketAddressError(address, `it is longer than ${PATH_BYTES} bytes`);
  const sockaddr = Buffer.alloc(2 + length);
  if (endianness() === "LE") sockaddr.writeUInt16LE(AF_UNIX);
  else sockaddr.writeUInt16BE(AF_UNIX);
  bytes.copy(sockaddr, 2);
  if (abstract) sockaddr[2] = 0;
  return sockaddr;
}

/**
 * Sends one datagram at once and closes the socket. Nothing is sent when it throws.
 * @throws OsCallError: EAGAIN (queue full), ECONNREFUSED or ENOENT (no listener), …; OperatorError
 */
export function sendDatagram(to: string, text: string): void {
  const address = unixAddress(to);
  const bytes = Buffer.from(text);
  const fd = libc("socket", `a datagram socket for ${to}`, AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  try {
    libc("sendto", to, fd, bytes, bytes.length, MSG_NOSIGNAL, address, address.length);
  } finally {
    libc("close", `a datagram socket for ${to}`, fd);
  }
}
