// One HTTP exchange, over HTTP/1.1 or HTTP/2.

import type { Readable } from "node:stream";

export interface WireRequest {
  method: string;
  /** With the query. */
  path: string;
  /** Lower case names. */
  headers: Record<string, string | string[]>;
  body: Buffer | undefined;
}

export interface WireResponse {
  status: number;
  /** Lower case names. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Must be read to its end, or destroyed. Errors are Node's. */
  body: Readable;
  /** Bytes of the body so far, unpacked; counted by who reads it. */
  received?: number;
}

/** Sends requests. Rejects as Node does, or with the signal's reason. */
export interface Wire {
  send(request: WireRequest, signal: AbortSignal): Promise<WireResponse>;
}

/** The connection ended before the server read the request: it may be repeated, with any method. */
export class NotProcessedError extends Error {
  override readonly name = "NotProcessedError";
}
