// An HTTP lifecycle hook: any response counts as success. No certificate check, no proxy, no kept connection.
import { request as requestPlain, type IncomingMessage } from "node:http";
import { request as requestSecure } from "node:https";
import { isIP } from "node:net";
import type { Container, HTTPGetAction } from "../../../shared/api/pod.js";
import { PodLookups } from "../../../shared/net/pod-lookups.js";
import type { NodeRuntime } from "../node-runtime.js";
import type { HookTarget } from "./hook-target.js";
import { asError } from "../../../shared/errors/thrown.js";

const lookups = new PodLookups();
const MAX_REDIRECTS = 10;
/** Of the body so much is read and thrown away; a longer one is cut. */
const BODY_LIMIT = 10 * 1024;
/**
 * Limit of informational responses (1xx) before the final one; a server that sends more is at fault. As in Go's client.
 */
const MAX_INFORMATIONAL = 5;
/** OpenSSL's errors for a response that is not TLS. They are a code or, on writes, the text of an EPROTO. */
const NOT_TLS = /wrong.version.number|packet.length.too.long/i;

export async function runHttpHook(
  runtime: NodeRuntime,
  target: HookTarget,
  action: HTTPGetAction,
  signal: AbortSignal,
): Promise<void> {
  const host = action.host || (await target.podIP(signal));
  if (host === undefined) throw new Error("the pod has no address to send the request to");
  const url = hookUrl(action, host, portOf(action, target.container));
  const headers = hookHeaders(action, runtime.settings.kubernetesVersion);
  try {
    await follow(url, headers, signal);
  } catch (error) {
    if (signal.aborted || url.protocol !== "https:" || !(error instanceof Error && isNotTls(error))) throw error;
    await retryPlain(url, headers, error, signal);
    runtime.metrics.httpHookFellBack();
    runtime.events.pod(target.pod, {
      type: "Warning",
      reason: "LifecycleHTTPFallback",
      message: `request to HTTPS lifecycle hook ${hostOf(url)} got HTTP response, retry with HTTP succeeded`,
    });
  }
}

/** A secret meant for an encrypted connection is never sent over a plain one; the first error counts. */
async function retryPlain(url: URL, headers: Headers, first: unknown, signal: AbortSignal): Promise<void> {
  const plain = new URL(url);
  plain.protocol = "http:";
  // The scheme's own port must not change with the scheme.
  if (url.port === "") plain.port = "443";
  const open = new Map([...headers].filter(([name]) => name.toLowerCase() !== "authorization"));
  try {
    await follow(plain, open, signal);
  } catch {
    throw first;
  }
}

/** HOST:PORT, the scheme's own port too. */
const hostOf = (url: URL): string => (url.port === "" ? `${url.hostname}:443` : url.host);

type Headers = ReadonlyMap<string, string[]>;

/** "kube-lifecycle/1.36" from "v1.36.0". @internal */
export function userAgent(kubernetesVersion: string): string {
  return `kube-lifecycle/${/^v?(\d+\.\d+)/.exec(kubernetesVersion)?.[1] ?? ""}`;
}

/**
 * Headers in the order in which they were given, with the two standard ones; an empty Accept removes the standard one.
 * @internal
 */
export function hookHeaders(action: HTTPGetAction, kubernetesVersion: string): Headers {
  const headers = new Map<string, string[]>();
  const given = (name: string): string | undefined =>
    [...headers.keys()].find((known) => known.toLowerCase() === name.toLowerCase());
  for (const { name, value } of action.httpHeaders ?? []) {
    const known = given(name) ?? name;
    headers.set(known, [...(headers.get(known) ?? []), value]);
  }
  if (given("User-Agent") === undefined) headers.set("User-Agent", [userAgent(kubernetesVersion)]);
  const accept = given("Accept");
  if (accept === undefined) headers.set("Accept", ["*/*"]);
  else if (headers.get(accept)?.every((value) => value === "") === true) headers.delete(accept);
  return headers;
}

/** @internal */
export function hookUrl(action: HTTPGetAction, host: string, port: number): URL {
  const scheme = (action.scheme ?? "HTTP").toLowerCase();
  const path = action.path ?? "";
  return new URL(
    `${scheme}://${isIP(host) === 6 ? `[${host}]` : host}:${port}${path.startsWith("/") ? "" : "/"}${path}`,
  );
}

/** A number, a number as text, or the name of one of the container's ports. @internal */
export function portOf({ port }: HTTPGetAction, container: Container): number {
  const named = container.ports?.find(({ name }) => name === port)?.containerPort;
  const found = typeof port === "number" ? port : /^\d+$/.test(port) ? Number(port) : named;
  if (found === undefined || found < 1 || found > 65535) {
    throw new Error(`port ${port} is neither a number of 1 to 65535 nor the name of a port of the container`);
  }
  return found;
}

/** Redirects on the same host are followed; one to another host is an ordinary response. */
async function follow(start: URL, headers: Headers, signal: AbortSignal): Promise<void> {
  let url = start;
  for (let redirects = 0; redirects < MAX_REDIRECTS; redirects++) {
    const next = await get(url, headers, signal);
    if (next === undefined || next.hostname !== start.hostname) return;
    url = next;
  }
  throw new Error(`Get "${start.href}": stopped after ${MAX_REDIRECTS} redirects`);
}

/** Returns the redirect target of the response, or undefined. */
function get(url: URL, headers: Headers, signal: AbortSignal): Promise<URL | undefined> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => reject(new Error(`Get "${url.href}": ${error.message}`, { cause: error }));
    // Node wants a Host header as one string.
    const single = [...headers].map(([name, values]) => [name, values.length === 1 ? values[0] : values] as const);
    const options = {
      agent: false as const,
      signal,
      lookup: lookups.within(signal),
      // Small servers end their lines in various ways; nothing of the response is used.
      insecureHTTPParser: true,
      headers: { ...Object.fromEntries(single), Connection: "close" },
    };
    let hasHead = false;
    const answered = (response: IncomingMessage): void => {
      hasHead = true;
      let read = 0;
      response.on("data", (chunk: Buffer) => {
        read += chunk.length;
        if (read > BODY_LIMIT) response.destroy();
      });
      // The response counts from its head on; a failure of the body changes nothing.
      response.on("error", () => undefined);
      response.on("close", () => resolve(redirectOf(response, url)));
    };
    try {
      const sent =
        url.protocol === "https:"
          ? requestSecure(
              url,
              { ...options, rejectUnauthorized: false, servername: serverName(url.hostname) },
              answered,
            )
          : requestPlain(url, options, answered);
      let informational = 0;
      sent.on("information", () => {
        informational++;
        if (informational > MAX_INFORMATIONAL) sent.destroy(new Error("too many 1xx informational responses"));
      });
      // Status 101 is a response, too; without a listener Node closes the connection and emits no error.
      sent.on("upgrade", (_response, socket) => {
        socket.destroy();
        resolve(undefined);
      });
      sent.on("error", failed);
      sent.on("close", () => {
        if (!hasHead) failed(new Error("the connection was closed without a response"));
      });
      sent.end();
    } catch (error) {
      failed(asError(error));
    }
  });
}

function redirectOf({ statusCode = 0, headers }: IncomingMessage, from: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode) || headers.location === undefined) return undefined;
  return URL.canParse(headers.location, from.href) ? new URL(headers.location, from) : undefined;
}

/** The URL's host, never the Host header's; an address is no server name. */
const serverName = (hostname: string): string => (isIP(hostname.replace(/^\[|\]$/g, "")) === 0 ? hostname : "");

const isNotTls = ({ cause }: Error): boolean =>
  cause instanceof Error && NOT_TLS.test(`${"code" in cause ? String(cause.code) : ""} ${cause.message}`);
