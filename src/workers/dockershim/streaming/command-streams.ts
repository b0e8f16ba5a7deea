// The streams of exec and attach in the client's connection: SPDY's by their type, a WebSocket's by their channel.

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { ChannelConnection, type ChannelProtocol } from "./channel-connection.js";
import type { ClientStream } from "./client-stream.js";
import { SpdyConnection } from "./spdy-connection.js";

/** The streams of the CRI request. */
export interface CommandOptions {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

export interface CommandStreams {
  readonly stdin?: ClientStream | undefined;
  readonly stdout?: ClientStream | undefined;
  readonly stderr?: ClientStream | undefined;
  readonly resize?: ClientStream | undefined;
  /** The result of the command. */
  readonly error: ClientStream;
  /** Version of the protocol: from 4 on, the result is a Status, and a success is written, too. */
  readonly version: number;
  /** Ends the connection after all that was written. */
  close(): void;
}

type Name = "error" | "stdin" | "stdout" | "stderr" | "resize";

/** Upstream's limit for the client to open all streams. */
const CREATION_MS = 30_000;
/** Protocols from this version on have the stream of terminal sizes. */
const WITH_RESIZE = 3;
const CHANNELS: readonly Name[] = ["stdin", "stdout", "stderr", "error", "resize"];

function wanted(options: CommandOptions, version: number): Name[] {
  const { stdin, stdout, stderr, tty } = options;
  return [
    "error",
    ...(stdin ? (["stdin"] as const) : []),
    ...(stdout ? (["stdout"] as const) : []),
    ...(stderr ? (["stderr"] as const) : []),
    ...(tty && version >= WITH_RESIZE ? (["resize"] as const) : []),
  ];
}

/** Resolves when the client has opened all streams. Rejects if it does not within 30 s, or leaves. */
export function spdyCommandStreams(
  socket: Duplex,
  head: Buffer,
  { options, version, clock }: { options: CommandOptions; version: number; clock: Pick<Clock, "after"> },
): Promise<CommandStreams> {
  const missing = new Set<string>(wanted(options, version));
  const streams: Partial<Record<Name, ClientStream>> = {};
  return new Promise((resolve, reject) => {
    const connection = new SpdyConnection(socket, (stream, headers) => {
      const type = headers.get("streamtype") ?? "";
      if (!missing.delete(type)) return false;
      streams[type as Name] = stream;
      const { error } = streams;
      if (missing.size === 0 && error !== undefined) {
        late.cancel();
        resolve({ ...streams, error, version, close: () => connection.close() });
      }
      return true;
    });
    const late = clock.after(CREATION_MS, () => fail(`the client has not opened ${[...missing].join(", ")}`));
    const fail = (why: string): void => {
      late.cancel();
      reject(new Error(why));
      socket.destroy();
    };
    socket.once("close", () => fail("the client disconnected"));
    connection.start(head);
  });
}

/** Undefined: the client disconnected, or got an error for an invalid handshake. */
export function channelCommandStreams(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  { options, protocol }: { options: CommandOptions; protocol: ChannelProtocol },
): CommandStreams | undefined {
  const connection = ChannelConnection.open(request, socket, head, { protocol, count: CHANNELS.length });
  if (connection === undefined) return undefined;
  const { stdin, stdout, stderr, tty } = options;
  const channel = (name: Name): ClientStream => connection.channel(CHANNELS.indexOf(name));
  // Clients wait for a first message, which confirms that all is ready.
  connection.announce(CHANNELS.indexOf(stdout ? "stdout" : stderr ? "stderr" : "error"));
  return {
    stdin: stdin ? channel("stdin") : undefined,
    stdout: stdout ? channel("stdout") : undefined,
    stderr: stderr ? channel("stderr") : undefined,
    resize: tty ? channel("resize") : undefined,
    error: channel("error"),
    version: protocol.version,
    close: () => connection.close(),
  };
}
