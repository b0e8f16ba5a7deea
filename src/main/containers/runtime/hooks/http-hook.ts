// An HTTP lifecycle hook: any response counts as success. Main resolves host and port; the peers thread sends the
// request (docs/adr/0075).

import { OperatorError } from "../../../../shared/base/errors/operator-error.js";
import type { GetAction } from "../../../../shared/io/http/client/get-action.js";
import { addressOf } from "../../../../shared/io/net/dial.js";
import type { Container, HTTPGetAction } from "../../../../shared/kubernetes/api/pod.js";
import type { NodeRuntime } from "../node-runtime.js";
import type { HookTarget } from "./hook-target.js";

export async function runHttpHook(
  runtime: NodeRuntime,
  target: HookTarget,
  action: HTTPGetAction,
  signal: AbortSignal,
): Promise<void> {
  const host = action.host || (await target.podIP(signal));
  if (host === undefined) throw new OperatorError("the pod has no address to send the request to");
  const { scheme = "HTTP", path = "", httpHeaders: headers = [] } = action;
  const get: GetAction = {
    scheme: scheme.toUpperCase() === "HTTPS" ? "https" : "http",
    host,
    port: portOf(action, target.container),
    path,
    headers,
  };
  const hook = { uid: target.pod.metadata.uid, action: get, userAgent: userAgent(runtime.settings.kubernetesVersion) };
  const reply = await runtime.hooks.runHook(hook, signal);
  if (!reply.ok) throw new OperatorError(reply.message);
  if (!reply.fellBack) return;
  runtime.metrics.httpHookFellBack();
  runtime.events.pod(target.pod, {
    type: "Warning",
    reason: "LifecycleHTTPFallback",
    message: `request to HTTPS lifecycle hook ${addressOf(host, get.port)} got HTTP response, retry with HTTP succeeded`,
  });
}

/** "kube-lifecycle/1.36" from "v1.36.0". @internal */
export function userAgent(kubernetesVersion: string): string {
  return `kube-lifecycle/${/^v?(\d+\.\d+)/.exec(kubernetesVersion)?.[1] ?? ""}`;
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
