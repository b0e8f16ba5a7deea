// One client of port 10250 that upgrades its request to a WebSocket: v5.channel.k8s.io for exec and attach, and SPDY in
// a tunnel for a port-forward, whose frames stand for bytes of any kind here.

import { kernel } from "../kernel/kernel.js";
import { closeEnd, readAll, type ConnectionEnd, type Received } from "./connection.js";
import { upgradeNode } from "./node-port.js";
import { CHANNEL, patternChannel, patternOf, type StreamSession } from "./stream-session.js";
import { clientFrame, FrameReader, OPCODE } from "./web-socket-frames.js";

const CLOSES_CHANNEL = 255;
/** A look whether the kubelet has closed a connection that ended before. */
const LOOK_MS = 500;
const CLOSE_NORMAL = Buffer.of(0x03, 0xe8);

export class StreamClient {
  private end: ConnectionEnd | undefined;
  private head = Buffer.alloc(0);
  private readonly frames = new FrameReader();
  private isClosed = false;
  private isOver = false;

  constructor(
    private readonly session: StreamSession,
    private readonly token: string | undefined,
    private readonly onEnd: () => void,
  ) {}

  start(): void {
    const { session } = this;
    const protocol = session.kind === "portForward" ? "SPDY/3.1+portforward.k8s.io" : "v5.channel.k8s.io";
    const headers: Record<string, string> = {
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
      "Sec-WebSocket-Protocol": protocol,
      "X-Session": String(session.number),
    };
    if (this.token !== undefined) headers["Authorization"] = `Bearer ${this.token}`;
    upgradeNode(session.path, headers, (end) => {
      this.end = end;
      if (end === undefined) this.over();
      else readAll(end, session.use.paceMs, (received) => this.receive(received));
    });
  }

  private receive(received: Received): boolean {
    const { session } = this;
    if (this.isOver) return false;
    if (typeof received === "string") {
      if (received === "end" && session.use.lingers === true && session.status === 101) this.waitForCut();
      else this.over();
      return false;
    }
    if (session.status === 101) this.read(received);
    else this.readHead(received);
    return !this.isOver;
  }

  /** It keeps its end open until the kubelet has closed the other one. */
  private waitForCut(): void {
    if (this.end?.outgoing.isClosed !== false) this.over();
    else kernel.after(kernel.world, LOOK_MS, () => this.waitForCut());
  }

  private readHead(bytes: Buffer): void {
    const { session } = this;
    this.head = Buffer.concat([this.head, bytes]);
    const length = this.head.indexOf("\r\n\r\n");
    if (length < 0) return;
    const rest = this.head.subarray(length + 4);
    session.answeredAt ??= kernel.monotonic;
    session.status = Number(/^HTTP\/1\.1 (\d+)/.exec(this.head.toString("latin1"))?.[1]);
    session.text = rest.toString();
    if (session.status !== 101) return;
    session.text = "";
    const { leavesMs } = session.use;
    if (leavesMs !== undefined) kernel.after(kernel.world, leavesMs, () => this.leave());
    this.send();
    this.read(rest);
  }

  private read(bytes: Buffer): void {
    for (const { opcode, payload } of this.frames.read(bytes)) {
      if (this.isOver) return;
      if (this.session.closeCode !== undefined) this.session.wrong ??= "the client gets a frame after the close frame";
      if (opcode === OPCODE.CLOSE) this.closed(payload);
      else if (opcode === OPCODE.BINARY || opcode === OPCODE.TEXT) this.message(payload);
    }
  }

  private closed(payload: Buffer): void {
    const { session } = this;
    session.closeCode = payload.length < 2 ? 0 : payload.readUInt16BE(0);
    if (session.use.lingers === true) return;
    this.write(clientFrame(OPCODE.CLOSE, payload), () => undefined);
    this.over();
  }

  private message(message: Buffer): void {
    const { session } = this;
    const isRaw = session.kind === "portForward";
    const channel = isRaw ? CHANNEL.STDOUT : (message[0] ?? CHANNEL.STDIN);
    const data = isRaw ? message : message.subarray(1);
    if (data.length === 0) return;
    if (channel === CHANNEL.ERROR) {
      session.statuses.push(data.toString());
      return;
    }
    if (session.statuses.length > 0) session.wrong ??= "the client gets output after the status";
    const had = session.got[channel] ?? 0;
    if (!data.equals(patternOf(session.number, patternChannel(session, channel), had, data.length)))
      session.wrong ??= `the client gets other bytes than were sent on channel ${channel}, after ${had}`;
    session.got[channel] = had + data.length;
  }

  /** The next part of the input. */
  private send(): void {
    const { session } = this;
    const { sends, length, everyMs, closesStdin } = session.use;
    if (this.isClosed || this.isOver) return;
    const isRaw = session.kind === "portForward";
    session.sentAt = kernel.monotonic;
    if (session.sent >= sends) {
      if (!closesStdin || isRaw) return;
      session.hasSentEnd = true;
      this.write(clientFrame(OPCODE.BINARY, Buffer.of(CLOSES_CHANNEL, CHANNEL.STDIN)), () => undefined);
      return;
    }
    const data = patternOf(session.number, CHANNEL.STDIN, session.sent, Math.min(length, sends - session.sent));
    session.sent += data.length;
    const message = isRaw ? data : Buffer.concat([Buffer.of(CHANNEL.STDIN), data]);
    this.write(clientFrame(OPCODE.BINARY, message), () => kernel.after(kernel.world, everyMs, () => this.send()));
  }

  private leave(): void {
    if (this.isOver || this.session.closeCode !== undefined) return;
    this.session.leftAt = kernel.monotonic;
    this.isClosed = true;
    if (this.session.use.drops === true) this.over();
    else this.write(clientFrame(OPCODE.CLOSE, CLOSE_NORMAL), () => undefined);
  }

  private write(bytes: Buffer, taken: () => void): void {
    this.end?.outgoing.write(bytes, (error) => {
      if (error === undefined) taken();
    });
  }

  private over(): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.end !== undefined) closeEnd(this.end);
    this.session.endedAt = kernel.monotonic;
    this.onEnd();
  }
}
