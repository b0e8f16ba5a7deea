// The connection of a gRPC client, as Go's client makes it: ready once the server's settings are there. An attempt that
// fails before is made again after a back-off, until the probe's time is up. So a server that starts to listen within
// the time-out is found, and a port without a gRPC server is a time-out.
// Invariant: a failed attempt leaves no socket and no session; a server beyond its budget is not tried again.

import { connect, type ClientHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import { sleepOn, type Clock } from "../../shared/base/clock/clock.js";
import { addressOf, dial, reset } from "../../shared/io/net/dial.js";
import { OverBudgetError } from "./accounts.js";
import { FrameCounter, MAX_BYTES } from "./frame-counter.js";
import { PeerLimitError, type Guard } from "./guarded-source.js";
import { GuardedStream } from "./guarded-stream.js";

/** Go's client waits so long after the first failed attempt, and by the factor longer after each. */
const FIRST_BACKOFF_MS = 1000;
const BACKOFF_FACTOR = 1.6;

interface GrpcConnection extends Disposable {
  session: ClientHttp2Session;
  stream: GuardedStream;
}

/** Rejects with the signal's reason, or for a server that sends too much. */
export async function connectGrpc(
  host: string,
  port: number,
  { guard, clock, signal }: { guard: Guard; clock: Pick<Clock, "after">; signal: AbortSignal },
): Promise<GrpcConnection> {
  for (let backoffMs = FIRST_BACKOFF_MS; ; backoffMs *= BACKOFF_FACTOR) {
    try {
      return await attempt(host, port, guard, signal);
    } catch (error) {
      if (error instanceof OverBudgetError || error instanceof PeerLimitError) throw error;
      signal.throwIfAborted();
    }
    await sleepOn(clock, backoffMs, signal);
    guard.run.check();
  }
}

async function attempt(host: string, port: number, guard: Guard, signal: AbortSignal): Promise<GrpcConnection> {
  const raw = await dial(host, port, signal);
  const connection = open(raw, addressOf(host, port), guard);
  try {
    await ready(connection, signal);
    return connection;
  } catch (error) {
    connection[Symbol.dispose]();
    throw error;
  }
}

function open(raw: Socket, address: string, guard: Guard): GrpcConnection {
  const frames = new FrameCounter({ bytes: MAX_BYTES, dataFrames: 0 });
  const stream = new GuardedStream(raw, guard);
  stream.sendAtOnce();
  stream.limit((piece) => frames.read(piece));
  // The HTTP/2 session notices the end of its connection only by "close".
  stream.once("end", () => stream.destroy());
  // An error after the end of the run has no other listener.
  stream.on("error", () => undefined);
  const session = connect(`http://${address}`, {
    createConnection: () => stream,
    settings: { enablePush: false },
    maxReservedRemoteStreams: 0,
  });
  session.on("error", () => undefined);
  return {
    session,
    stream,
    [Symbol.dispose]: () => {
      reset(raw);
      session.destroy();
    },
  };
}

/** Resolves when the server's settings are there. Rejects when the connection ends before, or the signal aborts. */
function ready({ session, stream }: GrpcConnection, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      signal.removeEventListener("abort", onAbort);
      session.off("remoteSettings", onSettings).off("close", onClose);
      stream.off("close", onClose);
    };
    const onSettings = (): void => {
      settle();
      resolve();
    };
    const onClose = (): void => {
      settle();
      reject(stream.errored ?? new Error("the connection ended before the server's settings"));
    };
    const onAbort = (): void => {
      settle();
      reject(signal.reason as Error);
    };
    session.once("remoteSettings", onSettings).once("close", onClose);
    stream.once("close", onClose);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
}
