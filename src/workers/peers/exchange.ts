// One GET to a pod's server, and its response. Invariant: every request has its own connection, without proxy, keep-alive, compression or
// certificate check; it ends with a reset. What is read of the server is bounded in bytes and processor time.
import type { Socket } from "node:net";
import { asError } from "../../shared/errors/thrown.js";
import { OUTPUT_LIMIT_BYTES } from "../../shared/contracts/prober.js";
import { HeaderError } from "../../shared/http/client/headers.js";
import type { GetRequest } from "../../shared/http/client/redirects.js";
import { HeadLimitError, ReplyError } from "../../shared/http/client/reply-error.js";
import { ReplyReader, type ReplyHead } from "../../shared/http/client/reply-reader.js";
import { requestText } from "../../shared/http/client/request-text.js";
import { serverOf, type Server } from "../../shared/http/client/server-of.js";
import { UrlError } from "../../shared/http/url-escapes.js";
import { dial, isDialError, systemReason } from "../../shared/net/dial.js";
import { OverBudgetError } from "./accounts.js";
import { GuardedSource, PeerLimitError, type Guard, type Sink } from "./guarded-source.js";
import { GuardedStream } from "./guarded-stream.js";

const BROKEN = "net/http: HTTP/1.x transport connection broken: ";
const TIMED_OUT_AT_HEADERS = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
const TIMED_OUT_IN_BODY = "context deadline exceeded (Client.Timeout or context cancellation while reading body)";
const FIELDS = ["Location"];

export interface Exchange {
  request: GetRequest;
  signal: AbortSignal;
  peers: Guard;
  /** Only the head counts; no body is awaited. */
  headOnly?: boolean;
}

export interface Reply {
  head: ReplyHead;
  body: string;
}

/** A request without a reply, with the error text of upstream's client. */
export class ExchangeError extends Error {
  override readonly name = "ExchangeError";
}

/** The head of the response came, and its body broke off or never ended; or the head is longer than ours may be. @internal */
export class BodyError extends Error {
  override readonly name = "BodyError";
}

/** Rejects with ExchangeError or BodyError; with OverBudgetError before a connection is made. */
export async function exchange({ request, signal, peers, headOnly = false }: Exchange): Promise<Reply> {
  const { scheme, host, port, text } = sent(request, headOnly);
  peers.run.check();
  const raw = await connect(host, port, signal);
  return await new Promise<Reply>((resolve, reject) => {
    const answer = new Answer(headOnly, signal, (close, outcome) => {
      close();
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    });
    if (scheme === "http") sendPlain(raw, peers, text, answer);
    else sendSecure(raw, peers, host, text, answer).catch((error: unknown) => answer.fail(asError(error)));
  });
}

function sendPlain(raw: Socket, peers: Guard, text: string, answer: Answer): void {
  const source = new GuardedSource(raw, peers, true, answer);
  answer.start(() => source.close());
  raw.write(text, "latin1");
}

async function sendSecure(raw: Socket, peers: Guard, host: string, text: string, answer: Answer): Promise<void> {
  const stream = new GuardedStream(raw, peers);
  answer.start(() => stream.destroy());
  const { secure } = await import("./secure.js");
  const { socket, explain } = secure(stream, host);
  answer.start(() => {
    stream.destroy();
    socket.destroy();
  });
  socket.on("data", (piece: Buffer) => answer.piece(piece));
  socket.on("end", () => answer.end());
  socket.on("error", (error: Error) => answer.fail(explain(error)));
  socket.on("close", () => answer.end());
  socket.write(text, "latin1");
}

/** Collects one response and ends the connection at its last byte that matters. */
class Answer implements Sink {
  private readonly reader = new ReplyReader({ bodyBytes: OUTPUT_LIMIT_BYTES, fields: FIELDS });
  private close: () => void = () => undefined;
  private isSettled = false;
  private readonly onAbort = (): void => this.reject(new ExchangeError(TIMED_OUT_AT_HEADERS), TIMED_OUT_IN_BODY);

  constructor(
    private readonly headOnly: boolean,
    private readonly signal: AbortSignal,
    private readonly settled: (close: () => void, outcome: Reply | Error) => void,
  ) {
    signal.addEventListener("abort", this.onAbort, { once: true });
  }

  /** `close` ends the connection, at once if the response is settled already. */
  start(close: () => void): void {
    this.close = close;
    if (this.isSettled) close();
    else if (this.signal.aborted) this.onAbort();
  }

  piece(piece: Buffer): boolean {
    if (this.isSettled) return false;
    this.read(() => this.reader.feed(piece));
    return !this.isSettled;
  }

  end(): void {
    if (!this.isSettled) this.read(() => this.reader.end());
  }

  fail(error: Error): void {
    const reason = systemReason(error);
    this.reject(new ExchangeError(reason, { cause: error }), isOwnLimit(error) ? undefined : reason);
  }

  private read(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error;
      if (error instanceof HeadLimitError) {
        this.settle(new BodyError(error.message, { cause: error }));
        return;
      }
      const text = error.message === "EOF" ? error.message : BROKEN + error.message;
      this.reject(new ExchangeError(text, { cause: error }), error.message);
      return;
    }
    const { head, isComplete } = this.reader;
    if (head === undefined || !(isComplete || this.headOnly)) return;
    this.settle({ head, body: this.headOnly ? "" : this.reader.body().toString("utf8") });
  }

  /** `inBody` is the reason for a response whose head came; absent, it makes no difference. */
  private reject(error: ExchangeError, inBody: string | undefined): void {
    const isBroken = inBody !== undefined && this.reader.head !== undefined;
    this.settle(isBroken ? new BodyError(inBody, { cause: error }) : error);
  }

  private settle(outcome: Reply | Error): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.signal.removeEventListener("abort", this.onAbort);
    this.settled(() => this.close(), outcome);
  }
}

/** The server is at fault, not the connection. */
const isOwnLimit = (error: Error): boolean => error instanceof PeerLimitError || error instanceof OverBudgetError;

/** Where the request goes, and its text. */
function sent(request: GetRequest, acceptsGzip: boolean): Server & { text: string } {
  try {
    return { ...serverOf(request.url), text: requestText({ ...request, acceptsGzip }) };
  } catch (error) {
    const isRefused = error instanceof HeaderError || error instanceof UrlError;
    throw isRefused ? new ExchangeError(error.message, { cause: error }) : error;
  }
}

async function connect(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  try {
    return await dial(host, port, signal);
  } catch (error) {
    if (!isDialError(error)) throw error;
    const late = signal.aborted ? " (Client.Timeout exceeded while awaiting headers)" : "";
    throw new ExchangeError(`${error.message}${late}`, { cause: error });
  }
}
