// Compresses metrics pages as upstream does for clients that accept gzip, such as Prometheus. A page of 100 KiB becomes
// 12. Invariant: one piece is compressed at a time, for any number of clients. libuv's pool compresses it, and also
// serves the file calls of all threads.

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { replyText, writeChunks } from "./reply.js";

type Chunks = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/** The cheapest; higher levels gain a tenth for twice the time. */
const LEVEL = 1;

/** 200 and the page, compressed when the client accepts it. */
export async function replyPage(
  request: IncomingMessage,
  response: ServerResponse,
  text: string | Buffer,
  contentType: string,
): Promise<void> {
  if (!acceptsGzip(request.headers["accept-encoding"])) {
    replyText(response, text, contentType);
    return;
  }
  const body: Buffer[] = [];
  for await (const piece of gzipped([text])) body.push(piece);
  response.setHeader("Content-Encoding", "gzip");
  replyText(response, Buffer.concat(body), contentType);
}

/**
 * Writes a page that comes piece by piece, compressed if the client accepts it. Rejects with an error of `chunks`; the
 * response is then left open.
 */
export async function writePage(
  request: IncomingMessage,
  response: ServerResponse,
  chunks: Chunks,
  contentType: string,
): Promise<void> {
  const compressed = acceptsGzip(request.headers["accept-encoding"]);
  response.writeHead(
    200,
    omitUndefined<OutgoingHttpHeaders>({
      "Content-Type": contentType,
      "Content-Encoding": compressed ? "gzip" : undefined,
    }),
  );
  await writeChunks(response, compressed ? gzipped(chunks) : chunks);
}

/** "gzip" or "*" with a quality above 0; an explicit name comes before "*". @internal */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  let any = false;
  for (const entry of String(header ?? "").split(",")) {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
    if (name === "gzip") return Number(quality) > 0;
    if (name === "*") any = Number(quality) > 0;
  }
  return any;
}

async function* gzipped(chunks: Chunks): AsyncGenerator<Buffer, void, undefined> {
  const { createGzip } = await import("node:zlib");
  const gzip = createGzip({ level: LEVEL });
  let made: Buffer[] = [];
  gzip.on("data", (piece: Buffer) => made.push(piece));
  // Also passed to the failed call.
  gzip.on("error", () => undefined);
  const taken = (): Buffer[] => {
    const pieces = made;
    made = [];
    return pieces;
  };
  try {
    for await (const chunk of chunks) {
      await inTurn((done) => gzip.write(chunk, done));
      yield* taken();
    }
    await inTurn((done) => gzip.once("end", done).once("error", done).end());
    yield* taken();
  } finally {
    gzip.destroy();
  }
}

let turn: Promise<unknown> = Promise.resolve();

function inTurn(work: (done: (error?: Error | null) => void) => void): Promise<void> {
  const own = turn.then(
    () => new Promise<void>((resolve, reject) => work((error) => (error == null ? resolve() : reject(error)))),
  );
  turn = own.catch(() => undefined);
  return own;
}
