// One gRPC call on a link: a request, and the messages that the runtime sends until its status.
// Invariant: `end` is called exactly once, never by the constructor, and no message comes after it; a call that ends before its status
// came is reset at the runtime.
import { constants, type ClientHttp2Stream, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from "node:http2";
import { asError } from "../../errors/thrown.js";
import { frameOf, FrameReader } from "./frames.js";
import type { Link } from "./link.js";
import { CallFailedError, httpFailure, resetFailure, statusIn } from "./status.js";

/** Largest reply we accept: a ListContainers of several thousand containers. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

export interface Request {
  /** "/runtime.v1.RuntimeService/Version" */
  path: string;
  message: Uint8Array;
  /** More headers. */
  headers: Readonly<Record<string, string>>;
  /** The runtime is told; undefined: no limit. The caller keeps the deadline itself. */
  timeoutMs: number | undefined;
}

type Head = IncomingHttpHeaders & IncomingHttpStatusHeader;

interface Receiver {
  message(bytes: Buffer): void;
  /** undefined: the status is OK. */
  end(failure: CallFailedError | undefined): void;
}

export class Exchange {
  private readonly stream: ClientHttp2Stream;
  private readonly frames = new FrameReader(MAX_MESSAGE_BYTES);
  private status: CallFailedError | "ok" | undefined;
  private error: Error | undefined;
  private over = false;

  constructor(
    private readonly link: Link,
    { path, message, headers, timeoutMs }: Request,
    private readonly receiver: Receiver,
  ) {
    const timeout = timeoutMs === undefined ? undefined : grpcTimeout(timeoutMs);
    const stream = link.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      "user-agent": "nodelet",
      ...(timeout !== undefined && { "grpc-timeout": timeout }),
      ...headers,
    });
    this.stream = stream;
    stream.on("response", (head: Head) => this.onHead(head));
    stream.on("trailers", (trailers: IncomingHttpHeaders) => {
      this.status ??= statusIn(trailers);
    });
    stream.on("data", (chunk: Buffer) => this.onData(chunk));
    // Of a stream that was reset there is no status: "close" tells why.
    stream.on("end", () => {
      if (this.status !== undefined) this.settle();
    });
    stream.on("error", (error: Error) => {
      this.error = error;
    });
    stream.on("close", () => this.settle());
    stream.end(frameOf(message));
  }

  /** Ends the call with this failure, here at once and at the runtime too. */
  cancel(failure: CallFailedError): void {
    if (this.over) return;
    this.status = failure;
    this.settle();
    this.stream.close(constants.NGHTTP2_CANCEL);
    // It waits for the connection, which may never come.
    if (this.stream.pending) this.stream.destroy();
  }

  /** No more messages until resume(). */
  pause(): void {
    this.stream.pause();
  }

  resume(): void {
    this.stream.resume();
  }

  private onHead(head: Head): void {
    this.status ??= statusIn(head) ?? httpFailure(head[":status"]);
  }

  private onData(chunk: Buffer): void {
    if (this.over) return;
    try {
      for (const message of this.frames.push(chunk)) this.receiver.message(message);
    } catch (error) {
      this.cancel(error instanceof CallFailedError ? error : new CallFailedError("INTERNAL", asError(error).message));
    }
  }

  private settle(): void {
    if (this.over) return;
    this.over = true;
    const status = this.status ?? this.failure();
    this.receiver.end(status === "ok" ? undefined : status);
  }

  /** The stream has ended without a status. */
  private failure(): CallFailedError {
    if (this.link.isLost) return this.link.lossFailure();
    const { rstCode } = this.stream;
    if (rstCode === constants.NGHTTP2_NO_ERROR && this.error !== undefined) {
      return new CallFailedError("UNAVAILABLE", this.error.message);
    }
    return resetFailure(rstCode);
  }
}

const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ["m", 1],
  ["S", 1000],
  ["M", 60_000],
  ["H", 3_600_000],
];

/** grpc-timeout has eight digits at most. undefined: longer than it can say. */
export function grpcTimeout(ms: number): string | undefined {
  for (const [unit, length] of UNITS) {
    const amount = Math.ceil(ms / length);
    if (amount < 1e8) return `${amount}${unit}`;
  }
  return undefined;
}
