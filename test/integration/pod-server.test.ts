// The read-only and health ports of a node with pods, and pods that come from a web server.
// @promise Server: /pods, /healthz, /metrics; 405 for debug endpoints.
// @with test/workers/server
// @promise Command and status page: A pod's timeline and the kept data of terminated pods are bounded.
// @with test/main/pods/timeline

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type IncomingHttpHeaders, type IncomingMessage, type Server } from "node:http";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { PodTimeline } from "../../src/shared/contracts/timeline.js";
import { exactInteger } from "../../src/shared/kubernetes/api/wide-integers.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { readFamilies } from "../support/prometheus-protobuf.js";
import {
  conditionsOf,
  IDLE,
  manifest,
  NODE_NAME,
  RuntimeView,
  shell,
  statusOf,
  waitForPod,
  waitGone,
} from "../support/static-pods.js";

let node: TestNode;
let runtime: RuntimeView;
let web: Server;
/** The web server's response, and the request that it received. */
const served: { body: unknown; status: number; asked: IncomingHttpHeaders[] } = { body: {}, status: 200, asked: [] };

before(async () => {
  served.body = { kind: "PodList", apiVersion: "v1", items: [] };
  web = createServer((request, response) => {
    served.asked.push(request.headers);
    response.writeHead(served.status, { "Content-Type": "application/json" }).end(JSON.stringify(served.body));
  }).listen(0, "127.0.0.1");
  await once(web, "listening");
  const address = web.address();
  assert.ok(typeof address === "object" && address !== null);
  node = await startNode({
    config: {
      staticPodURL: `http://127.0.0.1:${address.port}/pods`,
      staticPodURLHeader: { "X-Node": ["one", "two"] },
      httpCheckFrequency: "200ms",
      featureGates: { NativeHistograms: true },
    },
  });
  runtime = new RuntimeView(node.endpoint);
  const containers = [shell("app", IDLE), shell("done", "exit 0")];
  // One second more than numbers of JavaScript can count.
  const tolerations = [
    { key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: exactInteger(2n ** 53n + 1n) },
  ];
  const shown = manifest("shown", containers, { spec: { restartPolicy: "OnFailure" } });
  await node.writeManifest("shown", { ...shown, spec: { ...shown.spec, tolerations } });
  await waitForPod(
    node,
    "shown",
    (pod) =>
      statusOf(pod, "app")?.state.running !== undefined && statusOf(pod, "done")?.state.terminated?.exitCode === 0,
    "as it stays",
  );
});
after(async () => {
  runtime.close();
  await node.stop();
  web.close();
});

async function get(path: string, init: RequestInit = {}): Promise<{ status: number; type: string; text: string }> {
  const response = await fetch(`${node.kubelet.url}${path}`, { ...init, signal: AbortSignal.timeout(60_000) });
  const type = response.headers.get("content-type") ?? "";
  return { status: response.status, type, text: await response.text() };
}

/** The body as it is sent. */
async function raw(path: string, headers: Record<string, string>): Promise<{ encoding?: string; body: Buffer }> {
  const sent = request(`${node.kubelet.url}${path}`, { headers, signal: AbortSignal.timeout(60_000) }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const encoding = response.headers["content-encoding"];
  return { ...(encoding !== undefined && { encoding }), body: await buffer(response) };
}

test("/pods is a v1 PodList", async () => {
  for (const path of ["/pods", "/pods/"]) {
    const { status, type, text } = await get(path);
    assert.equal(status, 200);
    assert.match(type, /^application\/json/);
    const list = JSON.parse(text) as {
      kind: string;
      apiVersion: string;
      metadata: unknown;
      items: { status?: unknown }[];
    };
    assert.deepEqual([list.kind, list.apiVersion, list.metadata], ["PodList", "v1", {}]);
    assert.equal(list.items.length, 1);
    assert.ok(list.items[0]?.status);
    assert.match(text, /"tolerationSeconds":9007199254740993[,}]/);
  }
  assert.equal((await get("/pods", { method: "POST" })).status, 405);
});

test("requests that Go's server reads are answered: of nc, which ends lines with LF and its side with the request, and paths that are not clean", async () => {
  const sent = async (port: string, text: string): Promise<string> => {
    const socket = connect(Number(port), "127.0.0.1");
    socket.end(text);
    return (await buffer(socket)).toString("latin1");
  };
  const [readOnly, health] = [new URL(node.kubelet.url).port, new URL(node.kubelet.healthzUrl).port];
  for (const port of [readOnly, health]) {
    assert.match(await sent(port, "GET /healthz HTTP/1.0\n\n"), /^HTTP\/1\.0 200 OK\r\n[^]*\r\nok$/);
    assert.match(
      await sent(port, "GET /x/..//healthz?a HTTP/1.0\n\n"),
      /^HTTP\/1\.0 307 [^]*\r\nLocation: \/healthz\?a\r\n/,
    );
    assert.match(await sent(port, "GET /healthz HTTP/2.0\nHost: a\n\n"), /^HTTP\/1\.1 505 /);
  }
  // The response is computed after the client's end.
  assert.match(
    await sent(readOnly, "GET /metrics HTTP/1.0\nX: a\n b\n\n"),
    /^HTTP\/1\.0 200 OK\r\n[^]*\nprocess_start_time_seconds /,
  );
  assert.match(await sent(readOnly, "GET /stats HTTP/1.0\n\n"), /^HTTP\/1\.0 307 [^]*\r\nLocation: \/stats\/\r\n/);
});

test("/healthz on both ports", async () => {
  assert.deepEqual(await get("/healthz"), { status: 200, type: "text/plain; charset=utf-8", text: "ok" });
  const verbose = await get("/healthz?verbose");
  assert.equal(verbose.status, 200);
  assert.deepEqual(verbose.text.split("\n"), [
    "[+]ping ok",
    "[+]log ok",
    "[+]syncloop ok",
    "[+]device-plugin ok",
    "healthz check passed",
    "",
  ]);
  assert.equal((await get("/healthz/syncloop")).text, "ok");
  const health = await fetch(node.kubelet.healthzUrl);
  assert.deepEqual([health.status, await health.text()], [200, "ok"]);
});

test("metrics pages are compressed for a client that accepts gzip, and only for it", async () => {
  for (const path of ["/metrics", "/metrics/cadvisor", "/metrics/resource", "/metrics/probes", "/metrics/slis"]) {
    const plain = await raw(path, {});
    assert.equal(plain.encoding, undefined, path);
    const packed = await raw(path, { "accept-encoding": "gzip;q=1.0, *;q=0" });
    assert.equal(packed.encoding, "gzip", path);
    const later = await raw(path, {});
    const help = (page: Buffer): string[] =>
      page
        .toString()
        .split("\n")
        .filter((line) => line.startsWith("# HELP"));
    // A metric may get its first sample between two requests; none loses its last.
    const [before, between, after] = [help(plain.body), help(gunzipSync(packed.body)), help(later.body)];
    assert.deepEqual(
      [before.filter((line) => !between.includes(line)), between.filter((line) => !after.includes(line))],
      [[], []],
      path,
    );
    if (plain.body.length > 10_000) assert.ok(packed.body.length * 3 < plain.body.length, path);
  }
});

test("metrics pages are protobuf for a client that prefers it, such as Prometheus with native histograms", async () => {
  const accept = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
  for (const path of ["/metrics", "/metrics/cadvisor", "/metrics/resource", "/metrics/probes", "/metrics/slis"]) {
    const response = await fetch(`${node.kubelet.url}${path}`, { headers: { accept } });
    assert.match(response.headers.get("content-type") ?? "", /^application\/vnd\.google\.protobuf; /, path);
    const families = readFamilies(Buffer.from(await response.arrayBuffer()));
    const text = (await raw(path, {})).body.toString();
    const named = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
    // A metric may get its first sample between two requests.
    assert.deepEqual(
      families.map(({ name }) => name).filter((name) => !named.includes(name)),
      [],
      path,
    );
    assert.ok(families.length > 0, path);
  }
});

test("/metrics under upstream's names", async () => {
  // Each thread counts for itself: the numbers agree a moment after the status.
  const page = await waitFor(
    async () => {
      const answer = await get("/metrics");
      counted(answer);
      return answer;
    },
    { what: "the metrics of the pod", timeoutMs: 60_000 },
  );
  for (const line of page.text.split("\n")) {
    assert.match(line, /^$|^# (HELP|TYPE) \w+ |^[a-zA-Z_:][\w:]*(\{.*\})? (-?[\d.e+-]+|NaN|[+-]Inf)$/);
  }
});

/** Throws for a number that is not that of the pod. */
function counted({ status, type, text }: Awaited<ReturnType<typeof get>>): void {
  assert.equal(status, 200);
  assert.match(type, /^text\/plain/);
  const samples = new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line): [string, number] => {
        const at = line.lastIndexOf(" ");
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
  );
  const value = (name: string): number => samples.get(name) ?? assert.fail(`no ${name}`);
  assert.equal(value("kubelet_running_pods"), 1);
  assert.equal(value('kubelet_running_containers{container_state="running"}'), 1);
  assert.equal(value('kubelet_running_containers{container_state="exited"}'), 1);
  assert.equal(value('kubelet_desired_pods{static="true"}'), 1);
  assert.equal(value('kubelet_active_pods{static="true"}'), 1);
  assert.equal(value("kubelet_started_pods_total"), 1);
  assert.equal(value('kubelet_started_containers_total{container_type="container"}'), 2);
  assert.equal(value('kubelet_runtime_operations_total{operation_type="run_podsandbox"}'), 1);
  assert.equal(value('kubelet_runtime_operations_total{operation_type="create_container"}'), 2);
  assert.ok(
    value('kubelet_runtime_operations_duration_seconds_bucket{operation_type="start_container",le="+Inf"}') >= 2,
  );
  assert.ok(value('kubelet_pleg_relist_duration_seconds_bucket{le="+Inf"}') >= 1);
  assert.ok(value("kubelet_pleg_relist_interval_seconds_count") >= 0);
  assert.equal(value('kubelet_run_podsandbox_duration_seconds_count{runtime_handler=""}'), 1);
  assert.equal(value("kubelet_pod_start_duration_seconds_count") <= 1, true);
  assert.equal(value(`kubelet_node_name{node="${NODE_NAME}"}`), 1);
  assert.ok([...samples.keys()].some((name) => name.startsWith("kubernetes_build_info{")));
  assert.ok(value('registered_metrics_total{deprecated_version="",stability_level="ALPHA"}') > 50);
  assert.ok(value('registered_metrics_total{deprecated_version="",stability_level="BETA"}') >= 4);
  assert.ok(value("process_resident_memory_bytes") > 0);
  assert.ok(value("process_cpu_seconds_total") > 0);
}

test("Prometheus gets its protobuf, with native histograms of the threads while the gate is on", async () => {
  const accept =
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,*/*;q=0.1";
  const { body } = await raw("/metrics", { accept });
  const families = new Map(readFamilies(body).map((family) => [family.name, family.metrics]));
  assert.equal(families.get("kubelet_running_pods")?.[0]?.value, 1);
  for (const name of ["kubelet_pleg_relist_duration_seconds", "kubelet_runtime_operations_duration_seconds"]) {
    for (const { schema = 0, count = 0, zeroCount = 0, buckets = [], positive = [] } of families.get(name) ?? []) {
      assert.ok(schema > 0 && buckets.length > 5, name);
      assert.equal(
        positive.reduce((sum, [, own]) => sum + own, zeroCount),
        count,
        name,
      );
    }
    assert.ok((families.get(name)?.[0]?.positive?.length ?? 0) > 0, name);
  }
  const [delay] = families.get("nodelet_loop_delay_seconds") ?? [];
  assert.deepEqual(
    delay?.quantiles?.map(([quantile]) => quantile),
    [0.5, 0.9, 0.99, 1],
  );
  assert.ok((delay.count ?? 0) > 0 && delay.sum !== undefined);
});

test("paths of the authenticated port are refused", async () => {
  for (const path of [
    "/run/default/shown/app",
    "/exec/default/shown/app",
    "/attach/default/shown/app",
    "/portForward/default/shown",
    "/containerLogs/default/shown/app",
    "/runningpods/",
    "/logs/",
    "/debug/pprof/profile",
  ]) {
    const { status, text } = await get(path);
    assert.equal(status, 405, path);
    assert.equal(text.trim(), "Debug endpoints are disabled.", path);
  }
  assert.equal((await get("/nothing")).status, 404);
});

test("pods of a web server start, change and are removed with its response", async () => {
  served.body = manifest("served", [shell("app", IDLE)]);
  const first = await waitForPod(node, "served", (pod) => conditionsOf(pod)["Ready"] === "True", "Ready");
  assert.equal(first.metadata.annotations?.["kubernetes.io/config.source"], "http");
  assert.match(first.metadata.uid, /^[0-9a-f]{32}$/);
  assert.equal(served.asked.at(-1)?.["x-node"], "one, two");
  // Toleration of everything is for pods of files.
  assert.equal(first.spec.tolerations?.some(({ effect }) => effect === "NoExecute") ?? false, false);

  const list = [manifest("served", [shell("app", IDLE)]), manifest("second", [shell("app", IDLE)])];
  served.body = { kind: "PodList", apiVersion: "v1", items: list };
  await waitForPod(node, "second", (pod) => conditionsOf(pod)["Ready"] === "True", "Ready");
  const same = await waitForPod(node, "served", () => true, "still there");
  assert.equal(same.metadata.uid, first.metadata.uid);
  assert.equal(statusOf(same, "app")?.containerID, statusOf(first, "app")?.containerID);

  // A failing server proves nothing about the pods.
  const { length } = served.asked;
  served.status = 500;
  await node.waitFor(() => served.asked.length >= length + 3, {
    what: "three responses with errors",
    timeoutMs: 60_000,
  });
  const during = await waitForPod(node, "second", () => true, "still there");
  assert.equal(during.status?.phase, "Running");

  served.status = 200;
  served.body = { kind: "PodList", apiVersion: "v1", items: list.slice(0, 1) };
  await waitGone(node, "second");
  const last = await waitForPod(node, "served", () => true, "still there");
  assert.equal(statusOf(last, "app")?.containerID, statusOf(first, "app")?.containerID);
  assert.equal((await runtime.sandboxes(last.metadata.uid)).length, 1);
});

test("the timeline of a pod: its stages, phases and events, as JSON and as a picture", async () => {
  const { status, type, text } = await get(`/debug/pods/default/shown-${NODE_NAME}/timeline`);
  assert.deepEqual([status, type], [200, "application/json"]);
  const timeline = JSON.parse(text) as PodTimeline;
  const stages = timeline.stages.map(({ stage, container = "" }) => `${stage} ${container}`.trim());
  for (const stage of ["create-sandbox", "cgroup", "volumes", "start-container app", "create app", "start app"]) {
    assert.ok(stages.includes(stage), `${stage} in ${stages.join(", ")}`);
  }
  for (const { stage, startedAt, endedAt, durationMs } of timeline.stages) {
    assert.ok(startedAt >= timeline.seenAt, stage);
    assert.equal(durationMs, (endedAt ?? NaN) - startedAt, `${stage} has ended`);
  }
  assert.deepEqual(
    timeline.phases.map(({ phase }) => phase),
    ["Pending", "Running"],
  );
  const events = timeline.events.map(({ reason, involvedObject }) => `${reason} ${involvedObject.fieldPath ?? ""}`);
  assert.ok(events.includes("Started spec.containers{app}"), events.join(", "));
  const picture = await get(`/debug/pods/default/shown-${NODE_NAME}/timeline?format=svg`);
  assert.equal(picture.type, "image/svg+xml; charset=utf-8");
  assert.match(picture.text, /^<svg .*start-container app.*<\/svg>\n$/s);
  assert.equal((await get("/debug/pods/default/nobody/timeline")).status, 404);
});

test("a manifest in JSON whose object is there in two parts makes one pod of both", async () => {
  const text = JSON.stringify(manifest("parts", [shell("app", IDLE)]));
  await node.writeManifest("parts", text.replace(/\}$/, ',"metadata":{"labels":{"part":"two"}}}'));
  const pod = await waitForPod(node, "parts", ({ status }) => status?.phase === "Running", "it runs");
  assert.equal(pod.metadata.labels?.["part"], "two");
  await node.removeManifest("parts");
  await waitGone(node, "parts");
});
