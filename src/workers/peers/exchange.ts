// One HTTP request to a pod's server, and its response. Invariant: every request has its own connection, without proxy, keep-alive,
// compression or certificate check; it ends with a reset. What is read of the server is bounded in bytes, pieces and processor time.
import { request, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { addressOf, dial, isDialError, systemReason } from "../../shared/net/dial.js";
import { OUTPUT_LIMIT_BYTES } from "../../shared/contracts/prober.js";
import { boundedText } from "../../shared/probes/run.js";
import { GuardedStream, type Guard } from "./guarded-stream.js";

/** Bytes of the headers of a response with its informational ones. Node reads no more than 2,000 fields of them. */
const MAX_HEADER_BYTES = 64 * 1024;
/**
 * Limit of informational responses (1xx) before the final one; a server that sends more is at fault. As in Go's client.
 */
const MAX_INFORMATIONAL = 5;
/** A body in smaller pieces than an honest server makes is not read to its end. */
const MAX_PIECES = 1_000;

/** One hop. */
export interface Target {
  scheme: "http" | "https";
  host: string;
  port: number;
  /** Begins with "/". */
  path: string;
}

export interface HopOptions {
  target: Target;
  /** In the order of sending, Host too. */
  headers: readonly { name: string; value: string }[];
  signal: AbortSignal;
  /** The signal has aborted because time ran out. */
  expired(): boolean;
  peers: Guard;
  /**
   * The response counts from its head on, a failure of its body changes nothing. Small servers end their lines in various ways, so the
   * head is read leniently, too.
   */
  headOnly?: boolean;
}

export interface Reply {
  status: number;
  location: string | undefined;
  body: string;
}

/** A request without a reply, with the error text of upstream's client. */
export class ExchangeError extends Error {
  override readonly name = "ExchangeError";
}

export const urlOf = ({ scheme, host, port, path }: Target): string => `${scheme}://${addressOf(host, port)}${path}`;

/** Rejects with ExchangeError; with OverBudgetError before a connection is made. */
export async function exchange(hop: HopOptions): Promise<Reply> {
  const { target, signal, peers } = hop;
  peers.run.check();
  let raw: Socket;
  try {
    raw = await dial(target.host, target.port, signal);
  } catch (error) {
    if (!isDialError(error)) throw error;
    throw new ExchangeError(hop.expired() ? `${error.message} ${TIMED_OUT_AT_HEADERS}` : error.message, {
      cause: error,
    });
  }
  const guarded = new GuardedStream(raw, peers, target.scheme === "http");
  const stream = target.scheme === "https" ? (await import("./secure.js")).secure(guarded, target.host) : guarded;
  try {
    return await get(stream, () => guarded.destroy(), hop);
  } finally {
    guarded.destroy();
    stream.destroy();
  }
}

const TIMED_OUT_AT_HEADERS = "(Client.Timeout exceeded while awaiting headers)";
const TIMED_OUT_IN_BODY = "(Client.Timeout or context cancellation while reading body)";

/** `end` resets the connection: called when the last byte that matters is here, before Node closes it the slow way. */
function get(
  stream: Duplex,
  end: () => void,
  { target, headers, signal, headOnly = false }: HopOptions,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    let response: IncomingMessage | undefined;
    const fail = (text: string, cause?: Error): void => {
      signal.removeEventListener("abort", onAbort);
      reject(new ExchangeError(text, { cause }));
    };
    const succeed = (reply: Reply): void => {
      end();
      signal.removeEventListener("abort", onAbort);
      resolve(reply);
    };
    const onAbort = (): void =>
      fail(`context deadline exceeded ${response === undefined ? TIMED_OUT_AT_HEADERS : TIMED_OUT_IN_BODY}`);
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener("abort", onAbort, { once: true });
    const sent = request({
      createConnection: () => stream,
      method: "GET",
      path: target.path,
      setHost: false,
      headers: [...headers.map(({ name, value }) => [name, value]), ["Connection", "close"]].flat(),
      maxHeaderSize: MAX_HEADER_BYTES,
      insecureHTTPParser: headOnly,
    });
    let informational = 0;
    sent.on("information", () => {
      informational++;
      if (informational <= MAX_INFORMATIONAL) return;
      fail("net/http: HTTP/1.x transport connection broken: net/http: too many 1xx informational responses");
      end();
    });
    // Status 101 is a response, too; without a listener Node closes the connection and emits no error.
    sent.on("upgrade", ({ statusCode = 101 }, socket) => {
      socket.destroy();
      succeed({ status: statusCode, location: undefined, body: "" });
    });
    sent.on("error", (error) => fail(systemReason(error), error));
    sent.on("response", (incoming) => {
      response = incoming;
      if (headOnly) succeed({ ...headOf(incoming), body: "" });
      readBody(incoming, succeed, (error) => fail(systemReason(error), error));
    });
    sent.end();
  });
}

const headOf = ({ statusCode = 0, headers }: IncomingMessage): Omit<Reply, "body"> => ({
  status: statusCode,
  location: headers.location,
});

function readBody(incoming: IncomingMessage, succeed: (reply: Reply) => void, fail: (error: Error) => void): void {
  const pieces: Buffer[] = [];
  let size = 0;
  let isDone = false;
  const done = (): void => {
    if (isDone) return;
    isDone = true;
    succeed({ ...headOf(incoming), body: boundedText(...pieces) });
  };
  incoming.on("data", (piece: Buffer) => {
    if (isDone) return;
    pieces.push(piece);
    size += piece.length;
    if (size >= OUTPUT_LIMIT_BYTES || pieces.length >= MAX_PIECES) done();
  });
  incoming.prependListener("end", done);
  incoming.on("error", fail);
}
