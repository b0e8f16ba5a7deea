// Reads the response of HTTP/1 into a PendingReply, and ends the connection at its last byte that matters.

import { errorCode } from "../../shared/base/errors/error-code.js";
import { OUTPUT_LIMIT_BYTES } from "../../shared/contracts/prober.js";
import { HeadLimitError, ReplyError } from "../../shared/io/http/client/reply-error.js";
import { ReplyReader } from "../../shared/io/http/client/reply-reader.js";
import type { Sink } from "./guarded-source.js";
import { BodyError, ExchangeError, FIELDS, type PendingReply } from "./pending-reply.js";

const BROKEN = "net/http: HTTP/1.x transport connection broken: ";

export class Http1Reply implements Sink {
  private readonly reader = new ReplyReader({ bodyBytes: OUTPUT_LIMIT_BYTES, fields: FIELDS });

  constructor(private readonly reply: PendingReply) {}

  piece(piece: Buffer): boolean {
    if (this.reply.isSettled) return false;
    this.read(() => this.reader.feed(piece));
    return !this.reply.isSettled;
  }

  end(): void {
    if (!this.reply.isSettled) this.read(() => this.reader.end());
  }

  fail(error: Error): void {
    // Go's client reports a reset once, and reads on: within a head that begins to arrive it is like the end.
    const isCut = errorCode(error) === "ECONNRESET" && this.reader.hasBegun && this.reader.head === undefined;
    if (isCut) this.end();
    else this.reply.fail(error);
  }

  private read(step: () => void): void {
    const { reply, reader } = this;
    try {
      step();
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error;
      // What came with the head, or after it, may be no body at all.
      if (this.settleByHead()) return;
      reply.hasHead = reader.head !== undefined;
      if (error instanceof HeadLimitError) {
        reply.settle(new BodyError(error.message, { cause: error }));
        return;
      }
      const text = error.message === "EOF" ? error.message : BROKEN + error.message;
      reply.reject(new ExchangeError(text, { cause: error }), error.message);
      return;
    }
    if (this.settleByHead()) return;
    const { head, isComplete } = reader;
    reply.hasHead = head !== undefined;
    if (head !== undefined && isComplete) reply.settle({ head, body: reader.body().toString("utf8") });
  }

  /** Returns whether the head is all that was needed. */
  private settleByHead(): boolean {
    const { head } = this.reader;
    if (head === undefined || this.reply.needsBody(head)) return false;
    this.reply.settle({ head, body: "" });
    return true;
  }
}
