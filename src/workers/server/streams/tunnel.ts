// A stream between a client and the runtime's streaming server: the request goes on to the runtime's address, and once the
// runtime has switched protocols bytes pass both ways as they are, each side as fast as the other takes them.
// What must hold: no credential of the client reaches the runtime; before the runtime has switched nothing but the request
// does; both connections end together, however either ends.
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock, Timer } from "../../../shared/clock/clock.js";
import type { Upgrade } from "../answer.js";
import { replyError, replyPlain, TEXT } from "../reply.js";

/** What is left to say after one side has ended is said in this time. */
export const LINGER_MS = 30_000;
/** The runtime answers at once: it made the address itself. */
const ANSWER_TIMEOUT_MS = 30_000;
/** The streaming server's own life of an address, seconds. */
const RETRY_AFTER = "60";
/** What is the client's and the server's alone. */
const KEPT_BACK = new Set(["host", "authorization", "cookie", "expect", "content-length", "transfer-encoding"]);

export interface TunnelsOptions {
  /** Streams at once, all kinds together. */
  limit: number;
  idleTimeoutMs: number;
  clock: Clock;
  /** The value of Sec-WebSocket-Protocol that the runtime is to see. */
  protocols: (offered: string) => string;
}

interface Ends {
  client: Duplex;
  runtime: Socket;
}

export class Tunnels {
  private readonly open = new Set<Ends>();
  /** Asked for and not yet open. */
  private opening = 0;

  constructor(private readonly options: TunnelsOptions) {}

  get size(): number {
    return this.open.size + this.opening;
  }

  /** False when there are too many: the client has been told. */
  admit(response: ServerResponse): boolean {
    if (this.size < this.options.limit) return true;
    replyError(response, 429, "too many streams are open on this node", { "Retry-After": RETRY_AFTER });
    return false;
  }

  /** Resolves when the stream is open, or the client was answered why not. Never rejects. */
  async connect(request: IncomingMessage, response: ServerResponse, upgrade: Upgrade, url: URL): Promise<void> {
    if (!this.admit(response)) return;
    this.opening++;
    try {
      const answer = await this.ask(request, upgrade, url);
      if (upgrade.socket.destroyed) {
        if (answer.socket === undefined) answer.reply.destroy();
        else answer.socket.destroy();
      } else if (answer.socket === undefined) {
        await passAnswer(answer.reply, response);
      } else {
        upgrade.take();
        upgrade.socket.write(headOf(answer.reply));
        this.join({ client: upgrade.socket, runtime: answer.socket }, upgrade.head, answer.head);
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (!response.headersSent) replyError(response, 500, `the runtime's streaming server at ${url.host}: ${why}`);
    } finally {
      this.opening--;
    }
  }

  close(): void {
    for (const { client, runtime } of this.open) {
      client.destroy();
      runtime.destroy();
    }
  }

  private async ask(
    request: IncomingMessage,
    upgrade: Upgrade,
    url: URL,
  ): Promise<{ reply: IncomingMessage; socket?: Socket; head: Buffer }> {
    const gone = new AbortController();
    const leave = (): void => gone.abort(new Error("the client went away"));
    const watched = watchEnd(upgrade.socket, leave);
    const late = this.options.clock.after(ANSWER_TIMEOUT_MS, () =>
      gone.abort(new Error(`no answer for ${ANSWER_TIMEOUT_MS / 1000} s`)),
    );
    const send = url.protocol === "https:" ? (await import("node:https")).request : httpRequest;
    try {
      return await new Promise((resolve, reject) => {
        const outgoing = send(url, {
          method: request.method,
          headers: this.headersFor(request),
          agent: false,
          signal: gone.signal,
          // Its certificate names nobody, and the address is this machine's.
          rejectUnauthorized: false,
        });
        outgoing.once("upgrade", (reply, socket, head) => resolve({ reply, socket, head }));
        outgoing.once("response", (reply) => resolve({ reply, head: Buffer.alloc(0) }));
        outgoing.on("error", (error) => reject(gone.signal.aborted ? (gone.signal.reason as Error) : error));
        outgoing.end();
      });
    } finally {
      late.cancel();
      watched();
    }
  }

  private headersFor(request: IncomingMessage): OutgoingHttpHeaders {
    const headers: Record<string, string[]> = {};
    for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
      const name = request.rawHeaders[i] ?? "";
      const value = request.rawHeaders[i + 1] ?? "";
      const known = name.toLowerCase();
      if (KEPT_BACK.has(known) || known.startsWith("impersonate-")) continue;
      const passed = known === "sec-websocket-protocol" ? this.options.protocols(value) : value;
      if (passed !== "" || value === "") (headers[name] ??= []).push(passed);
    }
    return headers;
  }

  private join(ends: Ends, clientHead: Buffer, runtimeHead: Buffer): void {
    const { client, runtime } = ends;
    this.open.add(ends);
    const timers: Timer[] = [this.watchIdle(ends)];
    const end = (): void => {
      if (!this.open.delete(ends)) return;
      for (const timer of timers) timer.cancel();
      client.destroy();
      runtime.destroy();
    };
    for (const socket of [client, runtime]) {
      if ("setNoDelay" in socket) socket.setNoDelay(true);
      socket.on("error", end);
      socket.once("close", end);
      socket.once("end", () => timers.push(this.options.clock.after(LINGER_MS, end)));
    }
    if (clientHead.length > 0) runtime.write(clientHead);
    if (runtimeHead.length > 0) client.write(runtimeHead);
    client.pipe(runtime);
    runtime.pipe(client);
  }

  /** Ends a stream on which nothing moves; looks four times in that time. */
  private watchIdle({ client, runtime }: Ends): Timer {
    const { clock, idleTimeoutMs } = this.options;
    let moved = runtime.bytesRead + runtime.bytesWritten;
    let movedAt = clock.monotonic();
    return clock.every(Math.max(1, idleTimeoutMs / 4), () => {
      const now = runtime.bytesRead + runtime.bytesWritten;
      if (now !== moved) {
        moved = now;
        movedAt = clock.monotonic();
      } else if (clock.monotonic() - movedAt >= idleTimeoutMs) {
        client.destroy();
      }
    });
  }
}

/** A connection that nobody reads does not see its end: it is read as far as its buffer goes. @returns ends the watch */
function watchEnd(socket: Duplex, onEnd: () => void): () => void {
  const onReadable = (): void => {
    if (socket.readableLength === 0) socket.read();
  };
  socket.on("readable", onReadable).once("end", onEnd).once("close", onEnd);
  return () => {
    socket.off("readable", onReadable).off("end", onEnd).off("close", onEnd);
  };
}

/** The runtime refused: what it said, in a response of ours. */
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

function headOf(reply: IncomingMessage): string {
  let head = `HTTP/1.1 ${reply.statusCode ?? 101} ${reply.statusMessage ?? ""}\r\n`;
  for (let i = 0; i + 1 < reply.rawHeaders.length; i += 2) {
    head += `${reply.rawHeaders[i] ?? ""}: ${reply.rawHeaders[i + 1] ?? ""}\r\n`;
  }
  return `${head}\r\n`;
}
