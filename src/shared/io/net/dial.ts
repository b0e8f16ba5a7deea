// Connections to servers of pods: made for one run, reset at its end. After an ordinary close a connection stays in
// TIME_WAIT for a minute, and a node makes hundreds per second.

import { connect, isIP, isIPv6, type Socket } from "node:net";
import { LookupError, PodLookups } from "./pod-lookups.js";

const lookups = new PodLookups();

/** No connection; Go's error text, which readers of events recognise. */
export class DialError extends Error {
  override readonly name = "DialError";
}

/** "10.0.0.1:80", "[fd00::1]:80" */
export function addressOf(host: string, port: number): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** A connected socket. Rejects with DialError, also when the signal ends the attempt. */
export function dial(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const address = addressOf(host, port);
    // Half open: Node must not reply to the other side's end with its own, see reset.
    const options = { host, port, allowHalfOpen: true };
    const socket = connect(isIP(host) === 0 ? { ...options, lookup: lookups.within(signal) } : options);
    const fail = (text: string): void => {
      settle();
      socket.destroy();
      reject(new DialError(text));
    };
    const onAbort = (): void => fail(`dial tcp ${address}: i/o timeout`);
    const onError = (error: Error): void => fail(`dial ${dialReason(error, address)}`);
    const onConnect = (): void => {
      settle();
      // The user of the connection reports later errors; a reset at the last moment is ignored.
      socket.on("error", () => undefined);
      resolve(socket);
    };
    const settle = (): void => {
      signal.removeEventListener("abort", onAbort);
      socket.off("error", onError).off("connect", onConnect);
      socket.on("error", () => undefined);
    };
    socket.once("error", onError).once("connect", onConnect);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
}

/**
 * Ends the connection with a reset. Once an orderly end is under way a reset fails, and Node 20 then leaks the socket.
 */
export function reset(socket: Socket): void {
  if (socket.destroyed) return;
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset by peer",
  EHOSTUNREACH: "no route to host",
  ENETUNREACH: "network is unreachable",
  ETIMEDOUT: "connection timed out",
  EPIPE: "broken pipe",
};

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/** The system's text for an error of a connection. */
export function systemReason(error: Error): string {
  return REASONS[codeOf(error)] ?? error.message;
}

function dialReason(error: Error, address: string): string {
  if (error instanceof LookupError) return `tcp: ${error.message}`;
  return `tcp ${address}: connect: ${systemReason(error)}`;
}
