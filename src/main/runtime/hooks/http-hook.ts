// An HTTP lifecycle hook: any response counts as success. Main makes the request's text; the peers thread sends it (docs/adr/0075).
import { isIP } from "node:net";
import type { Container, HTTPGetAction } from "../../../shared/api/pod.js";
import type { NodeRuntime } from "../node-runtime.js";
import type { HookTarget } from "./hook-target.js";

/** The request was sent, or could not be sent, and got no response. */
class HttpHookError extends Error {
  override readonly name = "HttpHookError";
}

export async function runHttpHook(
  runtime: NodeRuntime,
  target: HookTarget,
  action: HTTPGetAction,
  signal: AbortSignal,
): Promise<void> {
  const host = action.host || (await target.podIP(signal));
  if (host === undefined) throw new HttpHookError("the pod has no address to send the request to");
  const url = hookUrl(action, host, portOf(action, target.container));
  const headers = [...hookHeaders(action, runtime.settings.kubernetesVersion)];
  const reply = await runtime.hooks.runHook({ uid: target.pod.metadata.uid, url: url.href, headers }, signal);
  if (!reply.ok) throw new HttpHookError(reply.message);
  if (!reply.fellBack) return;
  runtime.metrics.httpHookFellBack();
  runtime.events.pod(target.pod, {
    type: "Warning",
    reason: "LifecycleHTTPFallback",
    message: `request to HTTPS lifecycle hook ${hostOf(url)} got HTTP response, retry with HTTP succeeded`,
  });
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
