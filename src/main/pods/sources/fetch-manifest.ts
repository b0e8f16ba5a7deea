// One GET of a manifest, as Go's client makes it: redirects to any host, ten requests at most; credentials stay with
// their host. One deadline covers everything, and the memory never exceeds the size limit.

import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { fromBytes } from "../../../shared/io/http/bytes.js";
import { Headers, HeaderError } from "../../../shared/io/http/client/headers.js";
import { LocationError, MAX_REQUESTS, redirectOf, type GetRequest } from "../../../shared/io/http/client/redirects.js";
import { mayAskForGzip } from "../../../shared/io/http/client/request-text.js";
import { parseUrl } from "../../../shared/io/http/client/url.js";
import { UrlError } from "../../../shared/io/http/url-escapes.js";
import { MANIFEST_LIMIT, publicUrl } from "./decode-job.js";
import { getOnce } from "./get-once.js";
import { GetOnceError, type WholeReply } from "./whole-reply.js";

/** A manifest URL could not be read; the message names it without its credentials. */
export class ManifestFetchError extends Error {
  override readonly name = "ManifestFetchError";
  constructor(
    url: string,
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`manifest ${url}: ${reason}`, options);
  }
}

/** The server responded, and has no pods. */
export class EmptyManifestError extends GetOnceError {
  constructor() {
    super("the server sent nothing; expected a v1 Pod or PodList");
  }
}

const unzip = promisify(gunzip);

/** The body of a 200 response. Rejects with ManifestFetchError or the signal's reason. */
export async function fetchManifest(
  url: string,
  header: Readonly<Record<string, readonly string[]>>,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const name = publicUrl(url);
  try {
    const first = firstRequest(url, header);
    return await bodyOf(await follow(first, signal), mayAskForGzip(first.headers));
  } catch (error) {
    signal.throwIfAborted();
    if (!EXPECTED.some((type) => error instanceof type)) throw error;
    throw new ManifestFetchError(name, messageOf(error), { cause: error });
  }
}

const EXPECTED = [GetOnceError, HeaderError, LocationError, UrlError];

function firstRequest(url: string, header: Readonly<Record<string, readonly string[]>>): GetRequest {
  const headers = new Headers();
  for (const [name, values] of Object.entries(header)) for (const value of values) headers.add(name, value);
  // As in Go, a Host among the headers is not sent: the URL names the host.
  return { url: parseUrl(url), host: "", headers };
}

async function follow(first: GetRequest, signal: AbortSignal): Promise<WholeReply> {
  let request = first;
  for (let requests = 1; ; requests++) {
    const reply = await getOnce(request, { bodyBytes: MANIFEST_LIMIT + 1, signal });
    const next = redirectOf(reply.head, first, request);
    if (next === undefined) return reply;
    if (requests >= MAX_REQUESTS) throw new GetOnceError(`stopped after ${MAX_REQUESTS} redirects`);
    request = next.request;
  }
}

/** @param decodes the request asked for gzip; else the body is used as it came */
async function bodyOf({ head, body }: WholeReply, decodes: boolean): Promise<Uint8Array> {
  if (head.status !== 200) {
    throw new GetOnceError(
      `the server responded with ${head.status} ${fromBytes(head.reason.slice(0, 256))}`.trimEnd(),
    );
  }
  const isZipped = decodes && head.field("Content-Encoding")?.toLowerCase() === "gzip";
  const text = isZipped ? await unzipped(body) : body;
  if (text.length > MANIFEST_LIMIT) throw tooLarge();
  if (text.length === 0) throw new EmptyManifestError();
  // A copy of its own: the bytes move to another thread.
  return Uint8Array.from(text);
}

async function unzipped(body: Buffer): Promise<Buffer> {
  if (body.length > MANIFEST_LIMIT) throw tooLarge();
  try {
    return await unzip(body, { maxOutputLength: MANIFEST_LIMIT });
  } catch (error) {
    const isLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    throw isLarge ? tooLarge() : new GetOnceError(`the body is no gzip: ${messageOf(error)}`, { cause: error });
  }
}

const tooLarge = (): GetOnceError => new GetOnceError(`larger than ${MANIFEST_LIMIT / 1024 / 1024} MiB`);
