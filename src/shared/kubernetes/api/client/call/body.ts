// Answers' bodies: unpacked, with a limit, as text or as the Status that explains a refusal.

import type { Readable } from "node:stream";
import { parseJson } from "../../../../base/text/parse-json.js";
import { findWideIntegers, mayHaveWideIntegers } from "../../find-wide-integers.js";
import { keepDigits, withDigits } from "../../wide-integers.js";
import type { WireResponse } from "../connection/wire.js";
import { headOf, OBJECT_LIMIT } from "../decode/oversized.js";
import { ApiError } from "../errors.js";

/** The value of contentType that this client acts upon; all others mean JSON. */
export const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";

export function isProtobufType(headers: WireResponse["headers"]): boolean {
  const type = headers["content-type"];
  return typeof type === "string" && type.startsWith(PROTOBUF_TYPE);
}

/** The response is not of the requested kind. */
export class BodyError extends Error {
  override readonly name: string = "BodyError";
}

/** The server has responded with an object over the limit of size. */
export class OversizedBodyError extends BodyError {
  override readonly name = "OversizedBodyError";
  constructor(
    /** The first bytes of the body. */
    readonly head: Buffer,
  ) {
    super(`the response is longer than ${OBJECT_LIMIT / 1024 / 1024} MiB`);
  }
}

/** The connection ended before the response did; named as Node names it. */
class CutBodyError extends Error {
  override readonly name = "CutBodyError";
  readonly code = "ERR_STREAM_PREMATURE_CLOSE";
  constructor() {
    super("the response was cut off");
  }
}

/** The body as sent, unpacked when it is gzip. To be read or destroyed. */
export async function bodyOf({ headers, body }: WireResponse): Promise<Readable> {
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding === "identity") return body;
  if (encoding !== "gzip") {
    body.on("error", () => undefined).destroy();
    throw new BodyError(`the response has the encoding ${String(encoding)}, which the request did not allow`);
  }
  const { createGunzip } = await import("node:zlib");
  const unpacked = createGunzip();
  body.on("error", (error) => unpacked.destroy(error));
  unpacked.on("close", () => body.destroy());
  return body.pipe(unpacked);
}

/** All of the body, one object or Status; rejects as Node does, or with BodyError. */
export async function readAll(response: WireResponse): Promise<Buffer> {
  const blocks = await blocksOf(await bodyOf(response));
  const all = blocks.length === 1 && blocks[0] !== undefined ? blocks[0] : Buffer.concat(blocks);
  response.received = all.length;
  return all;
}

/** Resolves when a body that nothing needs is read, or is over the limit of size. */
export async function readUnused(response: WireResponse): Promise<void> {
  try {
    await readAll(response);
  } catch (error) {
    if (!(error instanceof OversizedBodyError)) throw error;
  }
}

/**
 * Uses events: an iterator creates a dozen objects and as many listeners per response, and most responses are one
 * block.
 */
function blocksOf(body: Readable): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const blocks: Buffer[] = [];
    let size = 0;
    // Each body closes, and an error costs its stack.
    let isWhole = false;
    const cut = (): void => {
      if (!isWhole) reject(body.errored ?? new CutBodyError());
    };
    // A body that has ended already emits no further event.
    if (body.destroyed) {
      cut();
      return;
    }
    body.on("data", (block: Buffer) => {
      size += block.length;
      blocks.push(block);
      if (size > OBJECT_LIMIT) body.destroy(new OversizedBodyError(headOf(blocks)));
    });
    body.on("end", () => {
      isWhole = true;
      resolve(blocks);
    });
    body.on("error", reject);
    body.on("close", cut);
  });
}

/** Rejects with BodyError when the body is no JSON: it may have been cut. */
export async function readJson(response: WireResponse): Promise<unknown> {
  return jsonOf(await readAll(response), `the response (status ${response.status})`);
}

/** The digits of integers beyond 2^53 are kept beside the object (wide-integers.ts). @throws BodyError */
export function jsonOf(bytes: Buffer, what: string): unknown {
  try {
    const text = bytes.toString("utf8");
    const value = parseJson(text);
    if (typeof value !== "object" || value === null || !mayHaveWideIntegers(text)) return value;
    return withDigits(value, keepDigits(value, findWideIntegers(text)));
  } catch (error) {
    throw new BodyError(`${what} is no whole JSON (${bytes.length} bytes)`, { cause: error });
  }
}

interface StatusLike {
  kind?: unknown;
  code?: unknown;
  reason?: unknown;
  message?: unknown;
  details?: unknown;
}

/** The error of a refused call, with the server's own message if it has one. */
export async function refusalOf(response: WireResponse): Promise<ApiError> {
  const bytes = await readAll(response);
  const text = bytes.toString("utf8");
  try {
    const status = isProtobufType(response.headers)
      ? (await import("../../protobuf/objects.js")).decodeObject(bytes)
      : parseJson(text);
    if (isStatus(status)) return statusError(status, response.status);
  } catch {
    // A proxy's page, or plain text.
  }
  const said = text.trim().slice(0, 1024);
  return new ApiError(response.status, "", said === "" ? `the server responded with ${response.status}` : said);
}

export function isStatus(value: unknown): value is StatusLike {
  return typeof value === "object" && value !== null && (value as StatusLike).kind === "Status";
}

/** @param httpStatus when the Status itself has none */
export function statusError(status: StatusLike, httpStatus: number): ApiError {
  const { code, reason, message, details } = status;
  return new ApiError(
    typeof code === "number" && code !== 0 ? code : httpStatus,
    typeof reason === "string" ? reason : "",
    typeof message === "string" && message !== "" ? message : `the server responded with ${httpStatus}`,
    typeof details === "object" && details !== null ? details : {},
  );
}
