// Spans of requests to the kubelet's ports: whose trace they belong to, and what they say.

import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test, type TestContext } from "node:test";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import type { Logger } from "../../../../src/shared/telemetry/log/logger.js";
import { traced } from "../../../../src/shared/telemetry/tracing/tracing.js";
import { entry } from "../../../../src/workers/server/http/entry.js";
import type { CallerTrace } from "../../../../src/workers/server/http/request-span.js";
import { Router } from "../../../../src/workers/server/http/router.js";
import { plainServer } from "../../../../src/workers/server/ports/listener.js";
import { CALLER, SAMPLED, TRACE, traceThis, UNSAMPLED } from "../../../support/tracing-kit.js";
import { Certificates, SecurePort } from "../ports/secure-port-kit.js";

let certificates: Certificates;
before(async () => {
  certificates = await Certificates.create();
});
after(() => certificates.remove());

async function askedSecure(
  context: TestContext,
  headers: Record<string, string>,
  options: { samplingRatePerMillion?: number; path?: string } = {},
): Promise<ReadableSpan[]> {
  const { path = "/pods", ...kit } = options;
  const { spans } = traceThis(context, kit);
  const port = await new SecurePort(certificates).open();
  await port.ask(path, { headers });
  await port.answered();
  await port.close();
  return await spans();
}

test("a request with a sampled trace is a span of that trace, named by its route, without a sampling rate", async (context) => {
  const [span, ...more] = await askedSecure(context, SAMPLED, { samplingRatePerMillion: 0 });
  assert.deepEqual(more, []);
  assert.equal(span?.name, "/pods");
  assert.equal(span.spanContext().traceId, TRACE);
  assert.equal(span.parentSpanContext?.spanId, CALLER);
  const { "network.peer.port": port, ...attributes } = span.attributes;
  assert.ok(Number(port) > 0);
  assert.deepEqual(attributes, {
    "server.address": "kubelet",
    "http.request.method": "GET",
    "url.scheme": "https",
    "network.peer.address": "127.0.0.1",
    "client.address": "127.0.0.1",
    "url.path": "/pods",
    "network.protocol.version": "1.1",
    "http.route": "/pods",
    "http.response.status_code": 200,
  });
});

test("parameters of a path are not part of the span's name", async (context) => {
  const [span] = await askedSecure(context, SAMPLED, { path: "/containerLogs/default/web/app" });
  assert.equal(span?.name, "/containerLogs/{namespace}/{pod}/{container}");
  assert.equal(span.attributes["url.path"], "/containerLogs/default/web/app");
});

test("a request that its caller does not sample is not traced", async (context) => {
  assert.deepEqual(await askedSecure(context, UNSAMPLED), []);
});

async function asked(context: TestContext, callerTrace: CallerTrace): Promise<ReadableSpan[]> {
  const { spans } = traceThis(context);
  const answer = async (_request: unknown, response: { end(): unknown }): Promise<void> => {
    await traced(
      "inside",
      () => ({}),
      () => Promise.resolve(),
    );
    response.end();
  };
  const problems: unknown[] = [];
  const log = { error: (fields: object) => void problems.push(fields) } as unknown as Logger;
  const router = new Router([{ path: "/pods", answer }], log, callerTrace);
  const lookup = entry("http", (request, response, read) => router.answer(request, response, router.callOf(read)));
  const { server } = plainServer(lookup, systemClock, log);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const sent = get({ host: "127.0.0.1", port, path: "/pods", headers: SAMPLED, agent: false });
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  server.close();
  await once(server, "close");
  assert.deepEqual(problems, []);
  return await spans();
}

test("a route's work for a request is part of the request's span", async (context) => {
  const kept = await asked(context, "continue");
  const request = kept.find(({ name }) => name === "/pods");
  const inside = kept.find(({ name }) => name === "inside");
  assert.equal(inside?.parentSpanContext?.spanId, request?.spanContext().spanId);
  assert.equal(inside?.spanContext().traceId, TRACE);
});

test("a request to the read-only port begins a trace that refers to its caller's", async (context) => {
  const kept = await asked(context, "refer");
  const request = kept.find(({ name }) => name === "/pods");
  assert.notEqual(request?.spanContext().traceId, TRACE);
  assert.equal(request?.links[0]?.context.traceId, TRACE);
});

test("requests to the healthz port are not traced", async (context) => {
  const kept = await asked(context, "off");
  assert.deepEqual(
    kept.map(({ name }) => name),
    ["inside"],
  );
});
