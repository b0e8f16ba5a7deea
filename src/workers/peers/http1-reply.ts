// Reads the response of HTTP/1 into a PendingReply, and ends the connection at its last byte that matters.

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
    this.reply.fail(error);
  }

  private read(step: () => void): void {
    const { reply, reader } = this;
    try {
      step();
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error;
      reply.hasHead = reader.head !== undefined;
      if (error instanceof HeadLimitError) {
        reply.settle(new BodyError(error.message, { cause: error }));
        return;
      }
      const text = error.message === "EOF" ? error.message : BROKEN + error.message;
      reply.reject(new ExchangeError(text, { cause: error }), error.message);
      return;
    }
    const { head, isComplete } = reader;
    reply.hasHead = head !== undefined;
    if (head === undefined || !(isComplete || reply.headOnly)) return;
    reply.settle({ head, body: reply.headOnly ? "" : reader.body().toString("utf8") });
  }
}
