// httpGet lifecycle hooks: any response counts as success. Redirects are followed on the same host. An HTTPS hook whose server does not
// speak TLS is repeated without TLS.
// Invariant: a secret that is meant for an encrypted connection is never sent over a plain one; then the first error counts.
import type { HttpHook, HttpHookReply } from "../../shared/contracts/peers.js";
import { messageOf } from "../../shared/errors/thrown.js";
import { OverBudgetError } from "./accounts.js";
import { exchange, ExchangeError, urlOf, type Target } from "./exchange.js";
import type { Guard } from "./guarded-stream.js";

const MAX_REDIRECTS = 10;
/** OpenSSL's errors for a response that is not TLS. They are a code or, on writes, the text of an EPROTO. */
const NOT_TLS = /wrong.version.number|packet.length.too.long/i;

type Headers = HttpHook["headers"];

export async function runHttpHook(
  { url: text, headers }: HttpHook,
  peers: Guard,
  signal: AbortSignal,
): Promise<HttpHookReply> {
  const url = new URL(text);
  const get = (from: URL, sent: Headers): Promise<void> => follow(from, sent, peers, signal);
  try {
    await get(url, headers);
    return { ok: true, fellBack: false };
  } catch (error) {
    if (signal.aborted || url.protocol !== "https:" || !isNotTls(error)) return failed(error);
    const plain = new URL(url);
    plain.protocol = "http:";
    // The scheme's own port must not change with the scheme.
    if (url.port === "") plain.port = "443";
    const open = headers.filter(([name]) => name.toLowerCase() !== "authorization");
    return get(plain, open).then(
      () => ({ ok: true, fellBack: true }),
      () => failed(error),
    );
  }
}

const failed = (error: unknown): HttpHookReply => ({
  ok: false,
  message: error instanceof OverBudgetError ? `hook not run: ${error.message}` : messageOf(error),
});

/** A redirect to another host is an ordinary response. */
async function follow(start: URL, headers: Headers, peers: Guard, signal: AbortSignal): Promise<void> {
  let url = start;
  for (let redirects = 0; redirects < MAX_REDIRECTS; redirects++) {
    const next = await getOnce(url, headers, peers, signal);
    if (next === undefined || next.hostname !== start.hostname) return;
    url = next;
  }
  throw new ExchangeError(`Get "${start.href}": stopped after ${MAX_REDIRECTS} redirects`);
}

/** Returns the redirect target of the response, or undefined. */
async function getOnce(url: URL, headers: Headers, peers: Guard, signal: AbortSignal): Promise<URL | undefined> {
  const target = targetOf(url);
  const given = headers.flatMap(([name, values]) => values.map((value) => ({ name, value })));
  const host = given.some(({ name }) => name.toLowerCase() === "host") ? [] : [{ name: "Host", value: url.host }];
  const hop = { target, headers: [...host, ...given], signal, expired: () => false, peers, headOnly: true };
  try {
    const { status, location } = await exchange(hop);
    if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined;
    return URL.canParse(location, url.href) ? new URL(location, url) : undefined;
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    throw new ExchangeError(`Get "${urlOf(target)}": ${error.message}`, { cause: error.cause });
  }
}

function targetOf({ protocol, hostname, port, pathname, search }: URL): Target {
  const scheme = protocol.slice(0, -1);
  if (scheme !== "http" && scheme !== "https") throw new ExchangeError(`unsupported protocol scheme "${scheme}"`);
  return {
    scheme,
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (scheme === "https" ? 443 : 80) : Number(port),
    path: pathname + search,
  };
}

function isNotTls(error: unknown): boolean {
  const cause = error instanceof ExchangeError ? error.cause : undefined;
  return cause instanceof Error && NOT_TLS.test(`${"code" in cause ? String(cause.code) : ""} ${cause.message}`);
}
