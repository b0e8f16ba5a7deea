// A WebSocket client over TLS, as small as tests need it: one message per frame, channels in the first byte
// (v4.channel.k8s.io). clientFrame makes frames of any kind, also wrong ones.

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import type { Duplex } from "node:stream";

/** A frame as a client sends it. */
export function clientFrame(
  opcode: number,
  payload: Buffer,
  { fin = true, mask = 0 }: { fin?: boolean; mask?: number } = {},
): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(2 + (length < 126 ? 0 : length < 65_536 ? 2 : 8));
  head[0] = (fin ? 0x80 : 0) | opcode;
  head[1] = 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  else if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  const key = Buffer.alloc(4);
  key.writeUInt32BE(mask);
  return Buffer.concat([head, key, payload.map((byte, index) => byte ^ (key[index % 4] ?? 0))]);
}

export class ChannelSocket {
  /** Data received on each channel so far. */
  readonly received = new Map<number, string>();
  /** Payloads of pongs; the code of the close frame. */
  readonly pongs: string[] = [];
  closeCode: number | undefined;
  closed = false;
  /** Takes messages whole, in place of `received`. */
  onMessage: ((message: Buffer) => void) | undefined;
  private pending: Buffer;

  private constructor(
    readonly socket: Duplex,
    head: Buffer,
    /** The subprotocol that the server chose. */
    readonly protocol: string,
  ) {
    this.pending = head;
    socket.on("data", (part: Buffer) => {
      this.pending = Buffer.concat([this.pending, part]);
      this.read();
    });
    socket.on("error", () => undefined);
    socket.once("close", () => (this.closed = true));
    this.read();
  }

  /** Rejects with status and text when the server does not switch protocols. */
  static async connect(
    url: string,
    options: {
      headers?: Record<string, string>;
      ca?: string;
      client?: { cert: string; key: string };
      signal?: AbortSignal;
    } = {},
  ): Promise<ChannelSocket> {
    const sent = request(url, {
      agent: false,
      rejectUnauthorized: options.ca !== undefined,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...options.client,
      headers: {
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
        "Sec-WebSocket-Protocol": "v4.channel.k8s.io",
        ...options.headers,
      },
    }).end();
    sent.once("response", (response: IncomingMessage) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.once("end", () => sent.emit("error", new Error(`${response.statusCode ?? 0}: ${text}`)));
    });
    const [reply, socket, head] = (await once(sent, "upgrade")) as [IncomingMessage, Duplex, Buffer];
    return new ChannelSocket(socket, head, reply.headers["sec-websocket-protocol"] ?? "");
  }

  send(channel: number, data: string | Buffer): void {
    this.write(2, Buffer.concat([Buffer.of(channel), Buffer.from(data)]));
  }

  /** v5: no more comes on the channel. */
  end(channel: number): void {
    this.write(2, Buffer.of(255, channel));
  }

  /** A frame. False: that is enough until the socket has drained. */
  write(opcode: number, payload: Buffer): boolean {
    return this.socket.write(clientFrame(opcode, payload, { mask: 0x01020304 }));
  }

  text(channel: number): string {
    return this.received.get(channel) ?? "";
  }

  async until(condition: () => boolean, timeoutMs = 60_000): Promise<void> {
    for (const end = performance.now() + timeoutMs; !condition();) {
      if (performance.now() > end) throw new Error(`no more came than ${JSON.stringify([...this.received])}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  close(): void {
    this.socket.destroy();
  }

  private read(): void {
    for (;;) {
      const short = (this.pending[1] ?? 0) & 0x7f;
      const start = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (this.pending.length < start) return;
      const length =
        short === 126 ? this.pending.readUInt16BE(2) : short === 127 ? Number(this.pending.readBigUInt64BE(2)) : short;
      if (this.pending.length < start + length) return;
      const opcode = (this.pending[0] ?? 0) & 0x0f;
      const payload = this.pending.subarray(start, start + length);
      this.pending = this.pending.subarray(start + length);
      if (opcode === 8) {
        this.closed = true;
        this.closeCode = payload.length < 2 ? undefined : payload.readUInt16BE(0);
      } else if (opcode === 10) this.pongs.push(payload.toString("latin1"));
      else if (opcode <= 2 && this.onMessage !== undefined) this.onMessage(payload);
      else if (opcode <= 2 && payload.length > 0) {
        const [channel = 0] = payload;
        this.received.set(channel, this.text(channel) + payload.subarray(1).toString("latin1"));
      }
    }
  }
}
