import { deepEqual, equal } from "node:assert/strict";
import { it } from "node:test";
import { wallTime } from "../../../../src/shared/base/clock/moments.js";
import { NODES, PODS } from "../../../../src/shared/kubernetes/api/client/kinds.js";
import { restClientMetrics } from "../../../../src/shared/telemetry/metrics/rest-client.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { sendJson, sendStatus } from "../../../support/api-server.js";
import { startRig } from "../../kubernetes/api/client/client-kit.js";

/** `name{labels} value` of all samples that are no buckets, without the host. */
async function samples(registry: ThreadRegistry): Promise<string[]> {
  const { families } = await registry.exportSnapshot();
  return families.flatMap(({ name, samples: all }) =>
    all.flatMap(({ labels, value, metricName = name }) => {
      const words = Object.entries(labels).flatMap(([key, text]) => (key === "host" ? [] : [`${key}=${text}`]));
      return "le" in labels || metricName.endsWith("seconds_sum") ? [] : [`${metricName}{${words.join(",")}} ${value}`];
    }),
  );
}

it("counts each attempt, and each call with its bytes", async () => {
  const registry = new ThreadRegistry("t");
  const metrics = restClientMetrics(registry, { now: () => wallTime(0) });
  const refusals = [429, 503];
  await using rig = await startRig({
    metrics,
    answer: ({ method, url }, response) => {
      if (url.includes("watch")) response.end();
      else if (method === "DELETE") sendStatus(response, 404, "NotFound", "no");
      else {
        const refusal = refusals.shift();
        if (refusal === undefined) sendJson(response, { metadata: {}, items: [] });
        else sendStatus(response, refusal, "", "", { "retry-after": "0" });
      }
    },
  });
  const { client } = rig;
  await client.list(PODS);
  await client.create(NODES, { metadata: {} });
  await client.delete(NODES, { name: "a" }).catch(() => undefined);
  const watching = client.watch(PODS, { signal: new AbortController().signal })[Symbol.asyncIterator]();
  equal((await watching.next()).done, true);
  metrics.ranPlugin(0, "no_error", 90_000);
  metrics.ranPlugin(3, "plugin_execution_error", undefined);
  metrics.rotatedCertificate(7_200_000);
  await rig.server.close();
  await client.get(NODES, { name: "a" }, { timeoutMs: 900 }).catch(() => undefined);

  deepEqual(await samples(registry), [
    "rest_client_requests_total{code=429,method=GET} 1",
    "rest_client_requests_total{code=503,method=GET} 1",
    "rest_client_requests_total{code=200,method=GET} 2",
    "rest_client_requests_total{code=200,method=POST} 1",
    "rest_client_requests_total{code=404,method=DELETE} 1",
    "rest_client_requests_total{code=<error>,method=GET} 1",
    "rest_client_request_retries_total{code=429,verb=GET} 1",
    "rest_client_request_retries_total{code=503,verb=GET} 1",
    "rest_client_request_duration_seconds_count{verb=GET} 2",
    "rest_client_request_duration_seconds_count{verb=POST} 1",
    "rest_client_request_duration_seconds_count{verb=DELETE} 1",
    "rest_client_rate_limiter_duration_seconds_count{verb=GET} 3",
    "rest_client_rate_limiter_duration_seconds_count{verb=POST} 1",
    "rest_client_rate_limiter_duration_seconds_count{verb=DELETE} 1",
    "rest_client_request_size_bytes_sum{verb=GET} 0",
    "rest_client_request_size_bytes_count{verb=GET} 2",
    "rest_client_request_size_bytes_sum{verb=POST} 47",
    "rest_client_request_size_bytes_count{verb=POST} 1",
    "rest_client_request_size_bytes_sum{verb=DELETE} 42",
    "rest_client_request_size_bytes_count{verb=DELETE} 1",
    "rest_client_response_size_bytes_sum{verb=GET} 26",
    "rest_client_response_size_bytes_count{verb=GET} 1",
    "rest_client_response_size_bytes_sum{verb=POST} 26",
    "rest_client_response_size_bytes_count{verb=POST} 1",
    "rest_client_exec_plugin_call_total{code=0,call_status=no_error} 1",
    "rest_client_exec_plugin_call_total{code=3,call_status=plugin_execution_error} 1",
    "rest_client_exec_plugin_ttl_seconds{} 90",
    "rest_client_exec_plugin_certificate_rotation_age_sum{} 7200",
    "rest_client_exec_plugin_certificate_rotation_age_count{} 1",
    "rest_client_transport_cache_entries{} 1",
    "rest_client_transport_create_calls_total{result=miss} 1",
    "rest_client_transport_cert_rotation_gc_calls_total{} 0",
  ]);
});

it("measures the resolution of the server's name, and none of an address", async () => {
  for (const [host, count] of [
    ["localhost", 1],
    ["127.0.0.1", 0],
  ] as const) {
    const registry = new ThreadRegistry("t");
    const metrics = restClientMetrics(registry, { now: () => wallTime(0) });
    await using server = await startRig({
      answer: (_request, response) => sendJson(response, { metadata: {}, items: [] }),
    });
    const config = { server: `http://${host}:${server.server.port}` };
    await using rig = await startRig({ config, metrics });
    await rig.client.list(PODS);
    const { families } = await registry.exportSnapshot();
    const found = families
      .flatMap(({ samples: all }) => all)
      .filter(({ metricName }) => metricName === "rest_client_dns_resolution_duration_seconds_count");
    deepEqual(
      found.map(({ labels, value }) => [labels["host"], value]),
      count === 0 ? [] : [[host, count]],
    );
  }
});

it("names, labels and buckets are those of the facts", async () => {
  const registry = new ThreadRegistry("t");
  const metrics = restClientMetrics(registry, { now: () => wallTime(0) });
  metrics.done({ verb: "GET", host: "h" }, 1, 1, 1);
  metrics.throttled({ verb: "GET", host: "h" }, 1);
  const { families } = await registry.exportSnapshot();
  const buckets = (name: string) =>
    families
      .find((family) => family.name === name)
      ?.samples.flatMap(({ labels: { le } }) => (le === undefined || le === "+Inf" ? [] : [Number(le)]));
  for (const name of ["rest_client_request_duration_seconds", "rest_client_rate_limiter_duration_seconds"]) {
    deepEqual(buckets(name), [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60]);
  }
  for (const name of ["rest_client_request_size_bytes", "rest_client_response_size_bytes"]) {
    deepEqual(buckets(name), [64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216]);
  }
});

it("counts transports, the clients that share them, and their ends", async () => {
  const registry = new ThreadRegistry("t");
  const metrics = restClientMetrics(registry, { now: () => wallTime(0) });
  const rig = await startRig({ metrics, answer: (_seen, response) => sendJson(response, {}) });
  rig.client.sharing({}).close();
  const transports = async (): Promise<string[]> =>
    (await samples(registry)).filter((line) => line.startsWith("rest_client_transport_"));
  deepEqual(await transports(), [
    "rest_client_transport_cache_entries{} 1",
    "rest_client_transport_create_calls_total{result=miss} 1",
    "rest_client_transport_create_calls_total{result=hit} 1",
    "rest_client_transport_cert_rotation_gc_calls_total{} 0",
  ]);
  rig.client.close();
  await rig[Symbol.asyncDispose]();
  deepEqual(await transports(), [
    "rest_client_transport_cache_entries{} 0",
    "rest_client_transport_create_calls_total{result=miss} 1",
    "rest_client_transport_create_calls_total{result=hit} 1",
    "rest_client_transport_cert_rotation_gc_calls_total{} 0",
    "rest_client_transport_cache_gc_calls_total{result=deleted} 1",
  ]);
});
