// A connection to the API server: TCP, the tunnel of a proxy, TLS; which HTTP to speak over it is agreed upon by ALPN.

import { connect as connectTcp, isIP, type Socket } from "node:net";
import {
  checkServerIdentity,
  connect as connectTls,
  type PeerCertificate,
  type SecureContext,
  type TLSSocket,
} from "node:tls";
import { Scope } from "../../../../base/abort/scope.js";
import type { Clock } from "../../../../base/clock/clock.js";
import { abortReason } from "../../../../base/errors/thrown.js";
import { limitedTls } from "../../../../io/net/handshake-limit.js";
import { verifyingClientTls } from "../../../../io/net/untrusted-server-tls.js";
import { bareHost, portOf } from "./address.js";
import { WireError } from "./wire-error.js";

export type Protocol = "h2" | "http/1.1";

export interface Target {
  server: URL;
  proxy: URL | undefined;
  /** Undefined: plain http://. */
  context: SecureContext | undefined;
  tlsServerName: string | undefined;
  insecure: boolean;
  /** The name of the server, or of the proxy, was resolved after `ms`. */
  onResolved: ((host: string, ms: number) => void) | undefined;
  trust: ServerTrust;
}

/**
 * The last handshake with the server failed. Then the bytes of the next one are limited, which costs a twentieth of
 * main's time while that connection lasts: another server may stand in its place (docs/adr/0140).
 */
export interface ServerTrust {
  isLost: boolean;
}

export interface Dialed {
  socket: Socket | TLSSocket;
  protocol: Protocol;
}

/** client-go's: 30 s to connect, 10 s for TLS. */
const DIAL_MS = 30_000;
const KEEP_ALIVE_MS = 30_000;

/** Rejects as Node does, with WireError, or with the signal's reason. */
export async function dial(
  target: Target,
  offer: readonly Protocol[],
  clock: Clock,
  signal: AbortSignal,
): Promise<Dialed> {
  const scope = new Scope(signal);
  scope.limit(clock, DIAL_MS, () => new WireError(`no connection within ${DIAL_MS / 1000} s`));
  try {
    const tcp = await openTcp(target, clock, scope.signal);
    if (target.context === undefined) return { socket: tcp, protocol: "http/1.1" };
    return await openTls(tcp, target, target.context, offer, scope.signal);
  } finally {
    scope.dispose();
  }
}

async function openTcp({ server, proxy, onResolved }: Target, clock: Clock, signal: AbortSignal): Promise<Socket> {
  // Loaded before there is a socket: a socket without listeners must not fail meanwhile.
  const open = proxy === undefined ? undefined : await openerFor(proxy);
  const first = proxy ?? server;
  const socket = connectTcp({ host: bareHost(first), port: portOf(first), noDelay: true });
  const since = clock.monotonic();
  // Node emits one event for each address that the name has.
  socket.once("lookup", () => {
    if (isIP(bareHost(first)) === 0) onResolved?.(bareHost(first), clock.monotonic() - since);
  });
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
  await opened(socket, "connect", signal);
  if (proxy === undefined || open === undefined) return socket;
  if (proxy.protocol !== "https:") return await open(socket, proxy, server, signal);
  const name = bareHost(proxy);
  const servername = isIP(name) === 0 ? name : undefined;
  const tls = limitedTls(socket, { ...verifyingClientTls(), host: name, servername });
  await opened(tls, "secureConnect", signal);
  return await open(tls, proxy, server, signal);
}

type Opener = (socket: Socket, proxy: URL, server: URL, signal: AbortSignal) => Promise<Socket>;

async function openerFor({ protocol }: URL): Promise<Opener> {
  const isSocks = protocol === "socks5:" || protocol === "socks5h:";
  return isSocks
    ? (await import("./through-socks5.js")).throughSocks5
    : (await import("./connect-through.js")).connectThrough;
}

async function openTls(
  tcp: Socket,
  target: Target,
  context: SecureContext,
  offer: readonly Protocol[],
  signal: AbortSignal,
): Promise<Dialed> {
  const host = bareHost(target.server);
  const name = target.tlsServerName ?? host;
  const { trust } = target;
  const options = {
    // The name that the certificate must have; an address is checked without SNI.
    host: name,
    servername: isIP(name) === 0 ? name : undefined,
    secureContext: context,
    rejectUnauthorized: !target.insecure,
    checkServerIdentity: checkNames,
    ALPNProtocols: [...offer],
  };
  const socket = trust.isLost ? limitedTls(tcp, options) : connectTls({ ...options, socket: tcp });
  trust.isLost = true;
  await opened(socket, "secureConnect", signal);
  trust.isLost = false;
  return { socket, protocol: socket.alpnProtocol === "h2" ? "h2" : "http/1.1" };
}

/** As Go: the names of a certificate are its subjectAltName; the common name of its subject is none. */
function checkNames(host: string, certificate: PeerCertificate): Error | undefined {
  if (certificate.subjectaltname !== undefined) return checkServerIdentity(host, certificate);
  return new Error(
    `the server's certificate has no subjectAltName (its common name does not count): issue it with "${host}" there`,
  );
}

/** Waits for the socket's event; destroys it on failure. */
function opened(socket: Socket, event: "connect" | "secureConnect", signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      socket.off(event, onOpen);
      socket.off("error", onError);
      socket.off("close", onClose);
      signal.removeEventListener("abort", onAbort);
      act();
    };
    const onOpen = (): void => settle(resolve);
    const onError = (error: Error): void => settle(() => fail(error));
    const onClose = (): void => settle(() => fail(new Error("the connection was closed before it was ready")));
    const onAbort = (): void => settle(() => fail(abortReason(signal)));
    const fail = (error: Error): void => {
      socket.on("error", () => undefined);
      socket.destroy();
      reject(error);
    };
    socket.once(event, onOpen);
    socket.once("error", onError);
    socket.once("close", onClose);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}
