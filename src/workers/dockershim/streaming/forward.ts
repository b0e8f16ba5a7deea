// Port-forward: a client's pairs of streams, each joined with a connection to a port of the sandbox.
// Invariant: a refused port ends its own pair; both sides of a pair end together, each after the other's data.

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { ChannelConnection, type ChannelProtocol } from "./channel-connection.js";
import type { ClientStream } from "./client-stream.js";
import { SpdyConnection } from "./spdy-connection.js";

export interface Forwarding {
  readonly sandboxId: string;
  /** Connects to the port on the sandbox's loopback. */
  connect(port: number): Promise<Socket>;
  clock: Pick<Clock, "after">;
}

interface Pair {
  data: ClientStream;
  error: ClientStream;
}

/** Time for both streams of a port to arrive, as in upstream. */
const PAIR_MS = 30_000;

/** The client names ports stream by stream. */
export function forwardSpdy(socket: Duplex, head: Buffer, forwarding: Forwarding): void {
  const pairs = new Map<string, Partial<Pair>>();
  const connection = new SpdyConnection(socket, (stream, headers) => {
    const type = headers.get("streamtype");
    const port = portOf(headers.get("port") ?? "");
    if ((type !== "data" && type !== "error") || port === undefined) return false;
    // Without a request id, a stream of data follows its stream of errors.
    const id = headers.get("requestid") ?? String(type === "error" ? stream.id : stream.id - 2);
    const pair = pairs.get(id) ?? {};
    if (pair[type] !== undefined) return false;
    pair[type] = stream;
    const { data, error } = pair;
    if (data !== undefined && error !== undefined) {
      pairs.delete(id);
      void forward({ data, error }, port, forwarding);
      return true;
    }
    pairs.set(id, pair);
    const late = forwarding.clock.after(PAIR_MS, () => {
      if (pairs.get(id) === pair && pairs.delete(id)) stream.destroy();
    });
    stream.once("close", () => {
      late.cancel();
      if (pairs.get(id) === pair) pairs.delete(id);
    });
    return true;
  });
  connection.start(head);
}

/** Two channels for each of the ports: data and error, both of which begin with the port's number. */
export function forwardChannels(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  { protocol, ports, ...forwarding }: Forwarding & { protocol: ChannelProtocol; ports: readonly number[] },
): void {
  const connection = ChannelConnection.open(request, socket, head, { protocol, count: 2 * ports.length });
  if (connection === undefined) return;
  const done = ports.map(async (port, index) => {
    const pair = { data: connection.channel(2 * index), error: connection.channel(2 * index + 1) };
    const number = Buffer.alloc(2);
    number.writeUInt16LE(port);
    pair.data.write(number);
    pair.error.write(number);
    await forward(pair, port, forwarding);
  });
  void Promise.all(done).then(() => connection.close());
}

/** Resolves when both sides have ended. Never rejects. */
async function forward({ data, error }: Pair, port: number, forwarding: Forwarding): Promise<void> {
  // Clients send nothing on it.
  error.resume();
  try {
    const socket = await forwarding.connect(port);
    await joined(data, socket);
  } catch (problem) {
    if (!error.destroyed)
      error.write(`error forwarding port ${port} to pod ${forwarding.sandboxId}: ${messageOf(problem)}`);
    data.end();
    data.resume();
  }
  error.end();
}

function joined(data: ClientStream, socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject).once("close", () => {
      resolve();
      // The client may still send: nothing takes it.
      data.end();
      data.resume();
    });
    data.once("close", () => {
      // A stream that ended as a whole closes, too: then the socket has all of its data.
      if (!data.writableFinished || !data.readableEnded) socket.destroy();
    });
    if (data.destroyed) socket.destroy();
    data.pipe(socket);
    socket.pipe(data);
  });
}

function portOf(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}
