// A WebSocket whose messages begin with their channel: v4.channel.k8s.io and its older forms. The kubelet translates v5
// into SPDY before it calls a runtime (docs/adr/0036). Invariant: channels end with their connection; a message is at
// most 1 MiB.
// Source: https://github.com/kubernetes/apimachinery/blob/master/pkg/util/httpstream/wsstream/conn.go

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type ServerOptions, type WebSocket } from "ws";
import { ClientStream, type Carrier } from "./client-stream.js";

const MAX_MESSAGE = 1024 * 1024;
/** First byte of a frame of the base64 protocols, whose channels are digits. */
const ZERO = 0x30;

const OPTIONS: ServerOptions = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MAX_MESSAGE,
};

/** A form of the protocol. Empty name: the client offered none. */
export interface ChannelProtocol {
  readonly name: string;
  readonly version: number;
  readonly base64: boolean;
}

const PROTOCOLS: readonly ChannelProtocol[] = [
  { name: "v4.channel.k8s.io", version: 4, base64: false },
  { name: "v4.base64.channel.k8s.io", version: 4, base64: true },
  { name: "channel.k8s.io", version: 1, base64: false },
  { name: "base64.channel.k8s.io", version: 1, base64: true },
];

/** The first that the client offers and the server knows; undefined: it knows none of them. */
export function channelProtocol(offered: string | undefined): ChannelProtocol | undefined {
  const names = (offered ?? "").split(",").map((name) => name.trim());
  if (names.every((name) => name === "")) return { name: "", version: 1, base64: false };
  return names.flatMap((name) => PROTOCOLS.find((protocol) => protocol.name === name) ?? [])[0];
}

export class ChannelConnection implements Carrier {
  private readonly channels: readonly ClientStream[];
  private readonly holding = new Set<object>();
  private webSocket: WebSocket | undefined;

  /** @param count number of channels, from 0 */
  constructor(
    private readonly protocol: ChannelProtocol,
    count: number,
  ) {
    this.channels = Array.from({ length: count }, (_, id) => new ClientStream(this, id));
  }

  /**
   * Responds to the handshake; `ws` itself refuses an invalid one. @returns undefined: the client disconnected, or got
   * an error
   */
  static open(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    { protocol, count }: { protocol: ChannelProtocol; count: number },
  ): ChannelConnection | undefined {
    const server = new WebSocketServer({
      ...OPTIONS,
      handleProtocols: () => (protocol.name === "" ? false : protocol.name),
    });
    let opened: ChannelConnection | undefined;
    server.handleUpgrade(request, socket, head, (webSocket) => {
      opened = new ChannelConnection(protocol, count);
      opened.follow(webSocket);
    });
    return opened;
  }

  channel(id: number): ClientStream {
    const stream = this.channels[id];
    if (stream === undefined) throw new RangeError(`channel ${id} of ${this.channels.length}`);
    return stream;
  }

  /** An empty message: the channel is ready. */
  announce(id: number): void {
    this.send(id, Buffer.alloc(0), () => undefined);
  }

  /** All that was written reaches the client; then the connection ends. */
  close(): void {
    const open = this.channels.filter((stream) => !stream.writableFinished && !stream.destroyed);
    let left = open.length + 1;
    const finished = (): void => {
      left--;
      if (left === 0) this.webSocket?.close(1000);
    };
    for (const stream of open) {
      stream.once("finish", finished).once("close", () => (stream.writableFinished ? undefined : finished()));
      stream.end();
    }
    for (const stream of this.channels) stream.resume();
    finished();
  }

  send(id: number, part: Buffer, done: (error?: Error | null) => void): void {
    const { base64 } = this.protocol;
    const message = base64
      ? Buffer.concat([Buffer.of(ZERO + id), Buffer.from(part.toString("base64"))])
      : Buffer.concat([Buffer.of(id), part]);
    this.webSocket?.send(message, { binary: !base64 }, done);
  }

  /** These protocols cannot end one channel. */
  finish(_id: number, done: (error?: Error | null) => void): void {
    done();
  }

  released(): void {
    // Nothing to say to the client.
  }

  hold(stream: object): void {
    this.holding.add(stream);
    this.webSocket?.pause();
  }

  unhold(stream: object): void {
    if (this.holding.delete(stream) && this.holding.size === 0) this.webSocket?.resume();
  }

  private follow(webSocket: WebSocket): void {
    this.webSocket = webSocket;
    webSocket.on("message", (message) => this.read(message as Buffer));
    // "close" follows.
    webSocket.on("error", () => undefined);
    webSocket.once("close", () => {
      for (const stream of this.channels) stream.destroy();
    });
  }

  private read(message: Buffer): void {
    const [first] = message;
    if (first === undefined || message.length === 1) return;
    const { base64 } = this.protocol;
    const stream = this.channels[base64 ? first - ZERO : first];
    const data = message.subarray(1);
    stream?.deliver(base64 ? Buffer.from(data.toString("latin1"), "base64") : data);
  }
}
