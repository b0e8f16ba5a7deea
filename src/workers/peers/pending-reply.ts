// One response that is awaited. Invariant: it is settled once, by its reader, by a failure or by the end of the time,
// and the connection is closed then.

import type { ReplyHead } from "../../shared/io/http/client/reply-reader.js";
import { systemReason } from "../../shared/io/net/dial.js";
import { OverBudgetError } from "./accounts.js";
import { PeerLimitError } from "./guarded-source.js";

const TIMED_OUT_AT_HEADERS = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
const TIMED_OUT_IN_BODY = "context deadline exceeded (Client.Timeout or context cancellation while reading body)";

/** Fields of the head that a caller reads. */
export const FIELDS = ["Location"];

export type Head = Pick<ReplyHead, "status" | "field">;

export interface Reply {
  head: Head;
  /** "" if it was not needed. */
  body: string;
}

/** A request without a reply, with the error text of upstream's client. */
export class ExchangeError extends Error {
  override readonly name = "ExchangeError";
}

/** The head of the response came, and its body broke off or never ended; or the head is longer than ours may be. */
export class BodyError extends Error {
  override readonly name = "BodyError";
}

/** The server takes no request on this connection; another one may serve it. */
export class RefusedError extends ExchangeError {}

export class PendingReply {
  /** The head of the response is here. */
  hasHead = false;
  /** End the parts of the connection. */
  private readonly closers: (() => void)[] = [];
  private settled = false;
  private readonly onAbort = (): void => this.reject(new ExchangeError(TIMED_OUT_AT_HEADERS), TIMED_OUT_IN_BODY);

  constructor(
    /** Whether the response is incomplete until its body is here. */
    readonly needsBody: (head: Head) => boolean,
    private readonly signal: AbortSignal,
    private readonly done: (outcome: Reply | Error) => void,
  ) {
    signal.addEventListener("abort", this.onAbort, { once: true });
  }

  get isSettled(): boolean {
    return this.settled;
  }

  /** `close` ends a part of the connection when the response is settled, at once if it is settled already. */
  owns(close: () => void): void {
    if (this.settled) close();
    else this.closers.push(close);
    if (this.signal.aborted) this.onAbort();
  }

  fail(error: Error): void {
    const reason = systemReason(error);
    this.reject(new ExchangeError(reason, { cause: error }), isOwnLimit(error) ? undefined : reason);
  }

  /** `inBody` is the reason for a response whose head came; absent, it makes no difference. */
  reject(error: ExchangeError, inBody: string | undefined): void {
    const isBroken = inBody !== undefined && this.hasHead;
    this.settle(isBroken ? new BodyError(inBody, { cause: error }) : error);
  }

  settle(outcome: Reply | Error): void {
    if (this.settled) return;
    this.settled = true;
    this.signal.removeEventListener("abort", this.onAbort);
    for (const close of this.closers) close();
    this.done(outcome);
  }
}

/** The server is at fault, not the connection. */
const isOwnLimit = (error: Error): boolean => error instanceof PeerLimitError || error instanceof OverBudgetError;
