// httpGet lifecycle hooks: any response counts as success. Redirects are followed on the same host. An HTTPS hook whose
// server responds in plain HTTP is repeated without TLS.
// Invariant: a secret that is meant for an encrypted connection is never sent over a plain one; then the first error
// counts.

import { messageOf } from "../../shared/base/errors/thrown.js";
import type { HttpHook, HttpHookReply } from "../../shared/contracts/peers.js";
import { requestOf } from "../../shared/io/http/client/get-action.js";
import { OverBudgetError } from "./accounts.js";
import type { Exchange } from "./exchange.js";
import { follow, GetError } from "./follow.js";
import type { Guard } from "./guarded-source.js";
import { NotTlsError } from "./secure.js";

export async function runHttpHook(
  { action, userAgent }: HttpHook,
  peers: Guard,
  signal: AbortSignal,
): Promise<HttpHookReply> {
  try {
    const get: Exchange = { request: requestOf(action, userAgent), signal, peers, headOnly: true };
    return await follow(get).then(
      () => ({ ok: true, fellBack: false }),
      (error: unknown) => withoutTls(get, error),
    );
  } catch (error) {
    const message = error instanceof OverBudgetError ? `hook not run: ${error.message}` : messageOf(error);
    return { ok: false, message };
  }
}

/** Rejects with the first error unless the request without TLS gets a response. */
async function withoutTls(get: Exchange, error: unknown): Promise<HttpHookReply> {
  const { request, signal } = get;
  if (signal.aborted || !isPlainServer(error)) throw error;
  const headers = request.headers.copy();
  headers.delete("Authorization");
  const plain = { url: { ...request.url, scheme: "http", user: undefined }, host: request.host, headers };
  return follow({ ...get, request: plain }).then(
    () => ({ ok: true, fellBack: true }),
    () => {
      throw error;
    },
  );
}

function isPlainServer(error: unknown): boolean {
  const cause = error instanceof GetError && error.cause instanceof Error ? error.cause.cause : undefined;
  return cause instanceof NotTlsError && cause.isHttp;
}
