// A WebSocket client over TLS, as small as tests need it: one message per frame, channels in the first byte (v4.channel.k8s.io).
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { randomBytes } from "node:crypto";
import type { Duplex } from "node:stream";

export class ChannelSocket {
  /** What came on each channel so far. */
  readonly received = new Map<number, string>();
  closed = false;
  private pending: Buffer;

  private constructor(
    private readonly socket: Duplex,
    head: Buffer,
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
    options: { headers?: Record<string, string>; ca?: string } = {},
  ): Promise<ChannelSocket> {
    const sent = request(url, {
      agent: false,
      rejectUnauthorized: options.ca !== undefined,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
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
    const [, socket, head] = (await once(sent, "upgrade")) as [IncomingMessage, Duplex, Buffer];
    return new ChannelSocket(socket, head);
  }

  /** Client frames are masked; zeros mask nothing. */
  send(channel: number, data: string): void {
    const payload = Buffer.concat([Buffer.of(channel), Buffer.from(data)]);
    if (payload.length > 125) throw new Error("more than this client sends in a frame");
    this.socket.write(Buffer.concat([Buffer.of(0x82, 0x80 | payload.length, 0, 0, 0, 0), payload]));
  }

  text(channel: number): string {
    return this.received.get(channel) ?? "";
  }

  async until(condition: () => boolean, timeoutMs = 10_000): Promise<void> {
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
      if (opcode === 8) this.closed = true;
      else if (opcode <= 2 && payload.length > 0) {
        const [channel = 0] = payload;
        this.received.set(channel, this.text(channel) + payload.subarray(1).toString("latin1"));
      }
    }
  }
}
