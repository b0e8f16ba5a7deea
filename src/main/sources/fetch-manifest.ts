// One GET of a manifest. It follows redirects as Go's client does (ten at most, credentials stay with their host). One deadline covers
// everything, and the memory never exceeds the size limit.
import { MANIFEST_LIMIT, publicUrl } from "./decode-job.js";
import { messageOf } from "../../shared/errors/thrown.js";

const MAX_REDIRECTS = 10;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const CREDENTIALS = ["authorization", "cookie", "cookie2", "www-authenticate"];

/** A manifest URL could not be read; the message names it without its credentials. */
export class ManifestFetchError extends Error {
  override readonly name = "ManifestFetchError";
  constructor(url: string, reason: string, options?: ErrorOptions) {
    super(`manifest ${url}: ${reason}`, options);
  }
}

/** The body of a 200 response. Rejects with ManifestFetchError or the signal's reason. */
export async function fetchManifest(
  url: string,
  header: Readonly<Record<string, readonly string[]>>,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const name = publicUrl(url);
  const headers = new Headers();
  for (const [key, values] of Object.entries(header)) for (const value of values) headers.append(key, value);
  const { target: first, authorization } = withoutCredentials(url);
  if (authorization !== undefined && !headers.has("authorization")) headers.set("authorization", authorization);
  let target = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await get(target, headers, signal, name);
    const location = response.headers.get("location");
    if (REDIRECTS.has(response.status) && location !== null) {
      await response.body?.cancel();
      const next = new URL(location, target);
      if (!staysWithin(next.hostname, new URL(url).hostname)) for (const key of CREDENTIALS) headers.delete(key);
      target = next.href;
      continue;
    }
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new ManifestFetchError(
        name,
        `the server responded with ${response.status} ${response.statusText}`.trimEnd(),
      );
    }
    return await body(response, name);
  }
  throw new ManifestFetchError(name, `more than ${MAX_REDIRECTS} redirects`);
}

/** fetch refuses a user and password in the URL, which Go's client sends as basic authorization. */
function withoutCredentials(url: string): { target: string; authorization?: string } {
  if (!URL.canParse(url)) return { target: url };
  const parsed = new URL(url);
  if (parsed.username === "" && parsed.password === "") return { target: url };
  const pair = `${decodeURIComponent(parsed.username)}:${decodeURIComponent(parsed.password)}`;
  parsed.username = "";
  parsed.password = "";
  return { target: parsed.href, authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
}

async function get(url: string, headers: Headers, signal: AbortSignal, name: string): Promise<Response> {
  try {
    return await fetch(url, { headers, signal, redirect: "manual" });
  } catch (error) {
    signal.throwIfAborted();
    // fetch hides the reason (ECONNREFUSED, certificate) in the cause.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new ManifestFetchError(name, messageOf(cause), { cause: error });
  }
}

function staysWithin(host: string, origin: string): boolean {
  return host === origin || host.endsWith(`.${origin}`);
}

async function body(response: Response, name: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = response.body ?? [];
  for await (const chunk of stream) {
    length += chunk.byteLength;
    // Leaving the loop cancels the body.
    if (length > MANIFEST_LIMIT) throw new ManifestFetchError(name, `larger than ${MANIFEST_LIMIT / 1024 / 1024} MiB`);
    chunks.push(chunk);
  }
  if (length === 0) throw new ManifestFetchError(name, "the server sent nothing; expected a v1 Pod or PodList");
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}
