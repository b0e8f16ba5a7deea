// Spans of requests to the API server, with upstream's name and attributes. A span ends with the header of the
// response. The API server gets the span's context in the header traceparent.

import { traced } from "../../../../telemetry/tracing/tracing.js";
import type { WireResponse } from "../connection/wire.js";

/** @param send gets the headers to add; none while tracing is off */
export function tracedRequest(
  method: string,
  url: string,
  send: (headers: Record<string, string>) => Promise<WireResponse>,
): Promise<WireResponse> {
  return traced(
    `HTTP ${method}`,
    () => ({ kind: "client", attributes: attributesOf(method, url) }),
    async (span) => {
      const response = await send(span?.headers() ?? {});
      span?.set({ "http.response.status_code": response.status });
      if (response.status >= 400) span?.fail(new Error(`the server responded with ${response.status}`));
      return response;
    },
  );
}

function attributesOf(method: string, url: string): Record<string, string | number> {
  const { hostname, port, protocol } = new URL(url);
  return {
    "http.request.method": method,
    "url.full": url,
    "server.address": hostname,
    "server.port": port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
  };
}
