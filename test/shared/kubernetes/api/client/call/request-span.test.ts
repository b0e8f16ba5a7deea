// Spans of requests to the API server, and the header that carries them to it.

import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { tracedRequest } from "../../../../../../src/shared/kubernetes/api/client/call/traced-request.js";
import { traceThis } from "../../../../../support/tracing-kit.js";

const URL_OF_PODS = "https://api.example:6443/api/v1/pods?limit=5";
const answer = (status: number) => () => Promise.resolve({ status, headers: {}, body: Readable.from([]) });

test("a request to the API server is a span with upstream's name, and the server gets its context", async (context) => {
  const { spans } = traceThis(context);
  let sent: Record<string, string> = {};
  await tracedRequest("GET", URL_OF_PODS, (headers) => {
    sent = headers;
    return answer(200)();
  });
  const [span] = await spans();
  assert.equal(span?.name, "HTTP GET");
  assert.equal(sent["traceparent"], `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`);
  assert.deepEqual(span.attributes, {
    "http.request.method": "GET",
    "url.full": URL_OF_PODS,
    "server.address": "api.example",
    "server.port": 6443,
    "http.response.status_code": 200,
  });
  assert.equal(span.status.code, 0);
});

test("a refusal fails the span", async (context) => {
  const { spans } = traceThis(context);
  await tracedRequest("PATCH", URL_OF_PODS, answer(409));
  const [span] = await spans();
  assert.equal(span?.status.code, 2);
});

test("without tracing no header is added", async () => {
  await tracedRequest("GET", URL_OF_PODS, (headers) => {
    assert.deepEqual(headers, {});
    return answer(200)();
  });
});
