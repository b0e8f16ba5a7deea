// Spans of requests that a port has authorised: named by their route, ended with the response or the upgraded
// connection.
// Invariant: on the authenticated port a span continues the caller's trace. The read-only port authenticates no
// callers: there a span begins a trace and refers to the caller's, as upstream's does.

import type { IncomingMessage, ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { tracer, type OpenSpan } from "../../../shared/telemetry/tracing/tracing.js";
import type { Call, Route, Upgrade } from "./answer.js";

/** Relation between a port's spans and the caller's span. off: health checks are not traced. */
export type CallerTrace = "continue" | "refer" | "off";

/** undefined: not traced. */
export function requestSpan(
  callerTrace: CallerTrace,
  { route: { path }, call }: { route: Route; call: Call },
  request: IncomingMessage,
  response: ServerResponse,
  upgrade: Upgrade | undefined,
): OpenSpan | undefined {
  if (callerTrace === "off") return undefined;
  const route = path.replace(/:(\w+)/g, "{$1}");
  const { headers } = request;
  const span = tracer()?.start(route, {
    kind: "server",
    attributes: attributesOf(request, call, route),
    ...(callerTrace === "continue" ? { parent: { headers } } : { link: { headers } }),
  });
  if (span === undefined) return undefined;
  (upgrade?.socket ?? response).once("close", () => {
    const { statusCode } = response;
    span.set({ "http.response.status_code": statusCode });
    if (statusCode >= 500) span.fail(new Error(`answered ${statusCode}`));
    span.end();
  });
  return span;
}

function attributesOf(
  request: IncomingMessage,
  { method, target }: Call,
  route: string,
): Record<string, string | number> {
  const { socket, headers } = request;
  const agent = headers["user-agent"];
  return omitUndefined({
    "server.address": "kubelet",
    "http.request.method": method,
    "url.scheme": socket instanceof TLSSocket ? "https" : "http",
    "network.peer.address": socket.remoteAddress ?? "",
    "network.peer.port": socket.remotePort ?? 0,
    "user_agent.original": agent,
    "client.address": socket.remoteAddress ?? "",
    "url.path": target.path,
    "network.protocol.version": request.httpVersion,
    "http.route": route,
  });
}
