// A tunnel through a SOCKS5 proxy (RFC 1928, RFC 1929), as Go's net/http asks for one: the proxy resolves the server's
// name. Loaded only where there is such a proxy.
// Invariant: no byte that follows the proxy's last reply is read.

import type { Readable, Writable } from "node:stream";
import { abortReason } from "../../../../base/errors/thrown.js";
import { addressBytes, bareHost, portOf } from "./address.js";
import { WireError } from "./wire-error.js";

const VERSION = 5;
const CONNECT = 1;
const NO_AUTHENTICATION = 0;
const USER_AND_PASSWORD = 2;
const NONE_ACCEPTABLE = 0xff;
const PASSWORD_VERSION = 1;
const [IPV4, NAME, IPV6] = [1, 3, 4];
/** The length of a name, a user and a password is one byte. */
const LONGEST = 255;

const REFUSALS: readonly string[] = [
  "",
  "general SOCKS server failure",
  "connection not allowed by ruleset",
  "network unreachable",
  "host unreachable",
  "connection refused",
  "TTL expired",
  "command not supported",
  "address type not supported",
];

/** Asks the proxy at the other end of `socket` for a tunnel to `server`; destroys the socket on failure. */
export async function throughSocks5<Socket extends Readable & Writable>(
  socket: Socket,
  proxy: URL,
  server: URL,
  signal: AbortSignal,
): Promise<Socket> {
  const fail = (why: string): WireError => new WireError(`the SOCKS5 proxy ${proxy.host} ${why}`);
  const read = (length: number): Promise<Buffer> => exactly(socket, length, signal, fail);
  try {
    await authenticate(socket, proxy, read, fail);
    socket.write(Buffer.concat([Buffer.from([VERSION, CONNECT, 0]), target(server, fail)]));
    const [version, reply = 0, , type = 0] = await read(4);
    if (version !== VERSION) throw fail(`responded in version ${version}`);
    if (reply !== 0) throw fail(`opened no connection to ${server.host}: ${REFUSALS[reply] ?? `error ${reply}`}`);
    const lengths: Readonly<Record<number, number>> = { [IPV4]: 4, [IPV6]: 16 };
    const length = type === NAME ? (await read(1))[0] : lengths[type];
    if (length === undefined) throw fail(`responded with an address of the unknown type ${type}`);
    await read(length + 2);
    return socket;
  } catch (error) {
    socket.on("error", () => undefined).destroy();
    throw error;
  }
}

async function authenticate(
  socket: Writable,
  { username, password }: URL,
  read: (length: number) => Promise<Buffer>,
  fail: (why: string) => WireError,
): Promise<void> {
  const methods = username === "" && password === "" ? [NO_AUTHENTICATION] : [NO_AUTHENTICATION, USER_AND_PASSWORD];
  socket.write(Buffer.from([VERSION, methods.length, ...methods]));
  const [version, method] = await read(2);
  if (version !== VERSION) throw fail(`responded in version ${version}`);
  if (method === NONE_ACCEPTABLE) throw fail("accepts none of the authentication methods");
  if (method === NO_AUTHENTICATION) return;
  if (method !== USER_AND_PASSWORD || methods.length === 1) throw fail(`wants the authentication method ${method}`);
  const [user, secret] = [username, password].map((text) => Buffer.from(decodeURIComponent(text)));
  if (user === undefined || secret === undefined || user.length === 0) throw fail("needs a user's name");
  if (user.length > LONGEST || secret.length > LONGEST) throw fail(`takes at most ${LONGEST} bytes of each`);
  socket.write(Buffer.concat([Buffer.from([PASSWORD_VERSION]), sized(user), sized(secret)]));
  const [passwordVersion, status] = await read(2);
  if (passwordVersion !== PASSWORD_VERSION || status !== 0) throw fail("refused the user name and password");
}

function target(server: URL, fail: (why: string) => WireError): Buffer {
  const host = bareHost(server);
  const port = Buffer.alloc(2);
  port.writeUInt16BE(portOf(server));
  const address = addressBytes(host);
  if (address !== undefined) return Buffer.concat([Buffer.from([address.length === 4 ? IPV4 : IPV6]), address, port]);
  const name = Buffer.from(host);
  if (name.length > LONGEST) throw fail(`takes names of at most ${LONGEST} bytes`);
  return Buffer.concat([Buffer.from([NAME]), sized(name), port]);
}

function sized(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

/** The next bytes; what comes behind them stays in the stream. */
function exactly(
  stream: Readable,
  length: number,
  signal: AbortSignal,
  fail: (why: string) => WireError,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      stream.off("readable", look);
      stream.off("error", onError);
      stream.off("close", onClose);
      stream.off("end", onClose);
      signal.removeEventListener("abort", onAbort);
      act();
    };
    const look = (): void => {
      const bytes = stream.read(length) as Buffer | null;
      if (bytes?.length === length) settle(() => resolve(bytes));
    };
    const onError = (error: Error): void => settle(() => reject(error));
    const onClose = (): void => settle(() => reject(fail("closed the connection before there was a tunnel")));
    const onAbort = (): void => settle(() => reject(abortReason(signal)));
    stream.on("readable", look);
    stream.on("error", onError);
    stream.on("close", onClose);
    stream.on("end", onClose);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    else look();
  });
}
