// The whole response to one GET, and what bounds it.

import type { ReplyHead } from "../../../shared/io/http/client/reply-reader.js";

/** No response that can be used. */
export class GetOnceError extends Error {
  override readonly name = "GetOnceError";
}

export interface WholeReply {
  head: ReplyHead;
  body: Buffer;
}

export interface GetLimits {
  /** No more of the body is read. */
  bodyBytes: number;
  signal: AbortSignal;
}
