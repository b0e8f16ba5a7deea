// The streams between clients and the runtime's streaming server: their number and their end. A passage carries the
// data of one stream.
// Invariant: no credential of the client reaches the runtime; before the runtime has switched protocols, only the
// request is sent; both connections end together, whichever ends first, and the last data of one side reaches the
// other. An error in a handler of either connection ends the client's.

import { type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { ownedBy } from "../clients/owned.js";
import type { Upgrade } from "../http/answer.js";
import { replyError, replyPlain, TEXT } from "../http/reply.js";
import { PodShares } from "../pods/pod-shares.js";
import type { Connections, StartCopying, Passthrough } from "./passage.js";
import { askRuntime } from "./runtime-answer.js";

/** A client that has ended, or has received everything, has this time to close. */
const LINGER_MS = 30_000;
/** Looks in the time after which a stream is idle. */
const IDLE_LOOKS = 4;
/** Validity of an address of the streaming server, seconds. */
export const RETRY_AFTER = "60";

export interface TunnelsOptions {
  /** Streams at once, all kinds together. */
  limit: number;
  idleTimeoutMs: number;
  clock: Clock;
}

export class Tunnels {
  private readonly open = new Set<Connections>();
  /** Opening and open. */
  private readonly shares: PodShares;

  constructor(private readonly options: TunnelsOptions) {
    this.shares = new PodShares(options.limit);
  }

  get size(): number {
    return this.shares.size;
  }

  /** False if there are too many: the client got an error. One pod has at most half of the node's streams. */
  admit(response: ServerResponse, pod: PodUid): boolean {
    const where = this.shares.full(pod);
    if (where === undefined) return true;
    replyError(response, 429, `too many streams are open ${where}`, { "Retry-After": RETRY_AFTER });
    return false;
  }

  /** Resolves when the stream is open, or the client got an error. Never rejects. */
  async connect(
    response: ServerResponse,
    upgrade: Upgrade,
    url: URL,
    passage: Passthrough,
    pod: PodUid,
  ): Promise<void> {
    if (!this.admit(response, pod)) return;
    const leave = this.shares.take(pod);
    let opened = false;
    try {
      const answer = await askRuntime(url, passage, upgrade.socket, this.options.clock);
      if (upgrade.socket.destroyed) {
        (answer.socket ?? answer.reply).destroy();
      } else if (answer.socket === undefined) {
        await passAnswer(answer.reply, response);
      } else {
        const ends = { client: upgrade.socket, runtime: answer.socket };
        const join = joinOr(answer.reply, ends, passage);
        upgrade.take();
        this.watch(ends, leave);
        opened = true;
        ownedBy(ends.client, join)(ends, { client: upgrade.head, runtime: answer.head });
      }
    } catch (error) {
      const why = messageOf(error);
      if (!response.headersSent) replyError(response, 500, `the runtime's streaming server at ${url.host}: ${why}`);
    } finally {
      if (!opened) leave();
    }
  }

  close(): void {
    for (const { client, runtime } of this.open) {
      client.destroy();
      runtime.destroy();
    }
  }

  private watch(ends: Connections, leave: () => void): void {
    const { client, runtime } = ends;
    const { clock } = this.options;
    this.open.add(ends);
    const idle = this.watchIdle(ends);
    let late: Timer | undefined;
    const end = (): void => {
      if (!this.open.delete(ends)) return;
      leave();
      idle.cancel();
      late?.cancel();
      client.destroy();
      runtime.destroy();
    };
    const linger = (): void => {
      if (this.open.has(ends)) late ??= clock.after(LINGER_MS, end);
    };
    for (const socket of [client, runtime] as (Duplex & Partial<Socket>)[]) socket.setNoDelay?.(true);
    // From `finish` on, not from the runtime's end: a client that reads slowly is left the time it takes.
    client.on("error", end).once("close", end).once("end", linger).once("finish", linger);
    // Its `close` follows, which is the passage's.
    runtime.on("error", () => undefined);
  }

  /**
   * Ends a stream that is idle for so many looks. Looks are counted, and not the time: timers come a little early or
   * late, and a thread that stood still looks before it reads the bytes that came meanwhile.
   */
  private watchIdle({ client, runtime }: Connections): Timer {
    const { clock, idleTimeoutMs } = this.options;
    let moved = runtime.bytesRead + runtime.bytesWritten;
    let quietLooks = 0;
    return clock.every(Math.max(1, idleTimeoutMs / IDLE_LOOKS), () => {
      const now = runtime.bytesRead + runtime.bytesWritten;
      quietLooks = now === moved ? quietLooks + 1 : 0;
      moved = now;
      if (quietLooks >= IDLE_LOOKS) client.destroy();
    });
  }
}

function joinOr(reply: IncomingMessage, { runtime }: Connections, passage: Passthrough): StartCopying {
  try {
    return passage.switched(reply);
  } catch (error) {
    runtime.destroy();
    throw error;
  }
}

/** The runtime refused: its text, in a response of the kubelet. */
async function passAnswer(reply: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of reply as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > 64 * 1024) break;
    parts.push(part);
  }
  replyPlain(response, reply.statusCode ?? 502, Buffer.concat(parts).toString("utf8"), {
    "Content-Type": reply.headers["content-type"] ?? TEXT,
  });
}
