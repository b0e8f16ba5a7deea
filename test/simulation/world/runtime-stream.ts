// One session at the runtime's streaming server: SPDY with the streams of exec and attach, or the bytes of a
// port-forward, whose SPDY the kubelet does not read.

import { SpdyFrameReader } from "../../../src/shared/io/spdy/frame-reader.js";
import {
  FLAG_FIN,
  KIND,
  RST,
  dataHead,
  goAway,
  rstStream,
  streamOf,
  synReply,
} from "../../../src/shared/io/spdy/frames.js";
import { headerBlock } from "../../../src/shared/io/spdy/header-block.js";
import { SpdyHeaderReader } from "../../../src/shared/io/spdy/header-reader.js";
import { kernel } from "../kernel/kernel.js";
import type { Random } from "../kernel/random.js";
import { closeEnd, type ConnectionEnd } from "./connection.js";
import { CHANNEL, patternOf, type RuntimeSide, type StreamKind, type StreamSession } from "./stream-session.js";

const CHANNEL_OF: Readonly<Record<string, number>> = {
  stdin: CHANNEL.STDIN,
  stdout: CHANNEL.STDOUT,
  stderr: CHANNEL.STDERR,
  error: CHANNEL.ERROR,
};
/** Fields of SYN_STREAM before its headers. */
const SYN_FIELDS = 10;
const KILLED = 137;
/** Until it closes the connection of a session that has ended. */
const CLOSES_MS = 30;

export class RuntimeStream {
  private readonly side: RuntimeSide;
  private readonly channels = new Map<number, number>();
  private readonly headers = new SpdyHeaderReader();
  private readonly frames: SpdyFrameReader;
  /** Bytes that it echoes are not taken yet: it reads no further. */
  private echoes = 0;
  private linesLeft: number;
  private isStarted = false;
  private isOver = false;

  constructor(
    private readonly session: StreamSession,
    private readonly end: ConnectionEnd,
    private readonly asked: { kind: StreamKind; id: string; count: number; random: Random },
    private readonly onOver: () => void,
  ) {
    const { script } = session;
    const now = kernel.monotonic;
    session.runtime = this.side = { openedAt: now, received: 0, hasEnd: false, wrote: {}, movedAt: now };
    this.linesLeft = script.lines;
    this.frames = new SpdyFrameReader({
      onData: (id, part, fin) => this.onData(this.channels.get(id), part, fin),
      onControl: (kind, _flags, payload) => this.onControl(kind, payload),
    });
    if (script.breaksMs !== undefined) kernel.after(kernel.world, script.breaksMs, () => this.breakOff());
  }

  start(head: Buffer): void {
    if (this.isRaw) this.begin();
    if (head.length > 0) this.received(head);
    this.readOn();
  }

  /** The container or the sandbox has ended: a command is killed with it. */
  targetEnded(id: string): void {
    if (id !== this.asked.id || this.isOver) return;
    if (this.asked.kind === "exec") this.exit(KILLED);
    else if (this.asked.kind === "attach") this.exit(0);
    else this.finish();
  }

  /** As the end of the process: without a status. */
  breakOff(): void {
    if (this.isOver) return;
    this.end.outgoing.end("reset");
    this.finish();
  }

  private get isRaw(): boolean {
    return this.asked.kind === "portForward";
  }

  private readOn(): void {
    if (this.isOver || this.echoes > 0) return;
    this.end.incoming.read((received) => {
      if (typeof received === "string") {
        this.left();
        return;
      }
      this.side.movedAt = kernel.monotonic;
      this.received(received);
      kernel.post(kernel.world, () => this.readOn());
    });
  }

  private received(bytes: Buffer): void {
    if (this.isRaw) this.onData(CHANNEL.STDIN, bytes, false);
    else this.frames.push(bytes);
  }

  private onControl(kind: number, payload: Buffer): void {
    if (kind !== KIND.SYN_STREAM) return;
    const id = streamOf(payload);
    const channel = CHANNEL_OF[this.headers.read(payload.subarray(SYN_FIELDS)).get("streamtype") ?? ""];
    if (channel === undefined) this.session.wrong ??= "a stream of another kind is opened";
    else this.channels.set(id, channel);
    this.write(synReply(id, headerBlock({}, this.channels.size === 1)));
    if (this.channels.size === this.asked.count) this.begin();
  }

  private onData(channel: number | undefined, part: Buffer, fin: boolean): void {
    const { side, session } = this;
    if (this.isOver) return;
    if (channel !== CHANNEL.STDIN) {
      session.wrong ??= `the runtime gets ${part.length} bytes on channel ${channel}`;
      return;
    }
    if (side.hasEnd && (part.length > 0 || fin)) session.wrong ??= "the runtime gets input after its end";
    if (!part.equals(patternOf(session.number, CHANNEL.STDIN, side.received, part.length)))
      session.wrong ??= `the runtime gets other input than was sent, after ${side.received} bytes`;
    side.received += part.length;
    if (part.length > 0 && session.script.echoes) this.echo(Buffer.from(part));
    if (!fin) return;
    side.hasEnd = true;
    this.endIfDone();
  }

  private echo(part: Buffer): void {
    this.echoes++;
    this.say(CHANNEL.STDOUT, part, () => {
      this.echoes--;
      this.endIfDone();
      kernel.post(kernel.world, () => this.readOn());
    });
  }

  /** The client's streams are all there. */
  private begin(): void {
    if (this.isStarted) return;
    this.isStarted = true;
    const { endsMs } = this.session.script;
    if (endsMs !== Infinity) kernel.after(kernel.world, endsMs, () => this.endIfDone());
    this.line();
  }

  private line(): void {
    const { script, number } = this.session;
    if (this.isOver) return;
    if (this.linesLeft === 0) {
      this.endIfDone();
      return;
    }
    this.linesLeft--;
    const channel = script.echoes ? CHANNEL.STDERR : CHANNEL.STDOUT;
    const bytes = patternOf(number, channel, this.side.wrote[channel] ?? 0, script.length);
    this.say(channel, bytes, () => kernel.after(kernel.world, script.everyMs, () => this.line()));
  }

  private endIfDone(): void {
    const { script } = this.session;
    const isInputOver = !script.echoes || this.side.hasEnd;
    const isOld = kernel.monotonic - this.side.openedAt >= script.endsMs;
    if (this.isOver || !this.isStarted || this.linesLeft > 0 || this.echoes > 0 || !isOld) return;
    if (this.isRaw) this.finish();
    else if (isInputOver) this.exit(script.exitCode);
  }

  private say(channel: number, bytes: Buffer, taken: () => void): void {
    const { side } = this;
    const id = this.idOf(channel);
    side.wrote[channel] = (side.wrote[channel] ?? 0) + bytes.length;
    side.movedAt = kernel.monotonic;
    this.write(this.isRaw ? bytes : Buffer.concat([dataHead(id, bytes.length), bytes]), taken);
  }

  private exit(exitCode: number): void {
    if (this.isOver) return;
    this.side.exitCode = exitCode;
    if (!this.isStarted) {
      // Without its streams there is nothing to say it on.
      delete this.side.exitCode;
      this.breakOff();
      return;
    }
    for (const channel of [CHANNEL.STDOUT, CHANNEL.STDERR])
      if (this.idOf(channel) !== 0) this.write(dataHead(this.idOf(channel), 0, FLAG_FIN));
    const error = this.idOf(CHANNEL.ERROR);
    const status = Buffer.from(JSON.stringify(statusOf(exitCode)));
    this.write(Buffer.concat([dataHead(error, status.length), status]));
    if (this.session.script.leavesOpen === undefined) this.write(dataHead(error, 0, FLAG_FIN));
    const stdin = this.idOf(CHANNEL.STDIN);
    if (stdin !== 0 && !this.side.hasEnd) this.write(rstStream(stdin, RST.CANCEL));
    this.write(goAway(Math.max(0, ...this.channels.keys())));
    this.finish();
  }

  /** No bytes follow those that were written. */
  private finish(): void {
    this.over();
    this.side.endedAt = kernel.monotonic;
    kernel.after(kernel.world, this.asked.random.below(CLOSES_MS), () => closeEnd(this.end));
  }

  private left(): void {
    if (this.isOver) return;
    this.over();
    this.side.leftAt = kernel.monotonic;
    closeEnd(this.end);
  }

  private over(): void {
    this.isOver = true;
    this.onOver();
  }

  private write(bytes: Buffer, taken: () => void = () => undefined): void {
    this.end.outgoing.write(bytes, (error) => {
      // The end of the connection is read as well.
      if (error === undefined) taken();
    });
  }

  private idOf(channel: number): number {
    return [...this.channels].find(([, one]) => one === channel)?.[0] ?? 0;
  }
}

function statusOf(exitCode: number): object {
  if (exitCode === 0) return { metadata: {}, status: "Success" };
  return {
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(exitCode) }] },
  };
}
