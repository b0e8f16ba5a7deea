// @promise Server: /healthz/device-plugin fails while device plugins cannot register.
// @with test/main/resources/devices/node-devices.test.ts

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { once } from "node:events";
import { createServer, get, request, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { afterEach, describe, test } from "node:test";
import type { ThreadSnapshot } from "../../../src/shared/base/queue/board.js";
import { NO_MANIFESTS } from "../../../src/shared/contracts/manifest-facts.js";
import type { ServerInit, ServerUpcalls } from "../../../src/shared/contracts/server.js";
import type { PodTimeline } from "../../../src/shared/contracts/timeline.js";
import type { Pod } from "../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import type { Logger } from "../../../src/shared/telemetry/log/logger.js";
import type { MetricSnapshot } from "../../../src/shared/telemetry/metrics/snapshot.js";
import { LogFlushWatch } from "../../../src/workers/server/log-flush-watch.js";
import { ServerLogic } from "../../../src/workers/server/logic.js";
import { PodList } from "../../../src/workers/server/pods/pod-list.js";
import { LISTEN_RETRY_MS } from "../../../src/workers/server/ports/listener.js";
import { startServer } from "../../../src/workers/server/start.js";
import { freePort } from "../../support/free-port.js";
import { podsDelta, sendPods, showPods } from "../../support/pod-list.js";
import { until } from "../../support/sources-kit.js";
import { RUNTIME_INIT, STATS_INIT } from "../../support/stats-init.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const FLUSH_INTERVAL_MS = 30_000;
const COLLECT_DEADLINE_MS = 2000;

interface Answer {
  status: number;
  headers: IncomingMessage["headers"];
  body: string;
}

function pod(name: string, image = "busybox"): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", uid: podUid(`uid-${name}`) },
    spec: { containers: [{ name: "c", image }] },
  };
}

class Log {
  lines: string[] = [];
  info = (): void => undefined;
  warn = (_fields: object, line: string): void => void this.lines.push(line);
  error = (_fields: object, line: string): void => void this.lines.push(line);
  get logger(): Logger {
    return this as unknown as Logger;
  }
}

const MAIN: MetricSnapshot = {
  thread: "main",
  families: [{ name: "kubelet_running_pods", help: "pods", type: "gauge", samples: [{ value: 7, labels: {} }] }],
};

const PROBER: MetricSnapshot = {
  thread: "prober",
  families: [{ name: "prober_probe_total", help: "probes", type: "counter", samples: [{ value: 3, labels: {} }] }],
};

const CONFIGZ = { plain: '{"kubeletconfig":{}}', withOrigins: '{"kubeletconfig":{},"origins":{}}' };

/** A thread's slot of the board. */
function slot(thread: string, state: ThreadSnapshot["state"], generation: number, ageMs = 100): ThreadSnapshot {
  return {
    ...{ thread, state, generation, ageMs },
    ...{ loopDelayMaxMicros: 0, loopDelayMeanMicros: 0, queueDepth: 0 },
    ...{ op: 0, opAgeMs: 0, workAgeMs: Infinity, pressures: 0 },
  };
}

class ServerKit {
  readonly clock = new SteppedClock(1000);
  readonly log = new Log();
  syncLoopAge = 0;
  logAge = 0;
  threads: ThreadSnapshot[] = [];
  collect: () => Promise<MetricSnapshot[]> = () => Promise.resolve([MAIN]);
  timeline: ServerUpcalls["timeline"] = () => Promise.resolve(undefined);
  sendPods = (): Promise<void> => Promise.resolve();
  collectProbes = (): Promise<MetricSnapshot[]> => Promise.resolve([PROBER]);
  logic!: ServerLogic;
  base = "";
  healthzBase = "";

  async open(init: Partial<ServerInit> = {}): Promise<this> {
    this.logic = new ServerLogic({
      thread: "server",
      init: {
        address: "127.0.0.1",
        readOnlyPort: await freePort(),
        healthzBindAddress: "127.0.0.1",
        healthzPort: await freePort(),
        syncLoopMaxAgeMs: 300_000,
        devicePluginProblem: "",
        manifests: NO_MANIFESTS,
        nodeName: "n1",
        configz: CONFIGZ,
        runtime: RUNTIME_INIT,
        stats: STATS_INIT,
        ...init,
      },
      upcalls: {
        collectMetrics: () => this.collect(),
        collectProbeMetrics: () => this.collectProbes(),
        podDisks: () => Promise.resolve([]),
        timeline: (namespace, name) => this.timeline(namespace, name),
        mirrorUid: () => Promise.resolve(undefined),
        setVerbosity: () => Promise.resolve(),
        nodeFacts: () => Promise.reject(new Error("not asked")),
        podFacts: () => Promise.resolve(undefined),
        podStarts: () => Promise.resolve({}),
        allPodFacts: () => Promise.resolve({}),
        restartPod: () => Promise.resolve(undefined),
        unusedImages: () => Promise.resolve([]),
        events: () => Promise.resolve([]),
        manifests: () => Promise.reject(new Error("not asked")),
      },
      health: { syncLoopAgeMs: () => this.syncLoopAge, logFlushAgeMs: () => this.logAge },
      sendPods: () => this.sendPods(),
      threads: () => this.threads,
      api: () => Promise.reject(new Error("no API server")),
      manifests: () => Promise.reject(new Error("not asked")),
      clock: this.clock,
      log: this.log.logger,
    });
    this.logic.start();
    const { readOnly, healthz } = await this.logic.listening();
    this.base = `http://127.0.0.1:${readOnly?.port ?? 0}`;
    this.healthzBase = `http://127.0.0.1:${healthz?.port ?? 0}`;
    return this;
  }

  async ask(path: string, method = "GET", base = this.base): Promise<Answer> {
    const sent = request(`${base}${path}`, { method, agent: false }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.setEncoding("utf8");
    let body = "";
    for await (const chunk of response) body += chunk as string;
    return { status: response.statusCode ?? 0, headers: response.headers, body };
  }
}

let kit: ServerKit;
afterEach(() => kit.logic.stop());

test("/configz is not for the plain ports", async () => {
  kit = await new ServerKit().open();
  for (const base of [kit.base, kit.healthzBase]) equal((await kit.ask("/configz", "GET", base)).status, 404);
});

describe("/debug/pods/<namespace>/<name>/timeline", () => {
  const timeline: PodTimeline = {
    namespace: "default",
    name: "web",
    uid: podUid("u1"),
    seenAt: 1000,
    runningAt: 1900,
    startSliMs: 400,
    phases: [{ at: 1900, phase: "Running" }],
    stages: [
      { stage: "create-sandbox", startedAt: 1010, endedAt: 1200, durationMs: 190 },
      { stage: "pull", container: "web", startedAt: 1100, endedAt: 1600, durationMs: 500, error: `<b>"no"</b>` },
    ],
    stagesDropped: 0,
    events: [],
  };

  test("is JSON, and an SVG on request", async () => {
    kit = await new ServerKit().open();
    kit.timeline = (namespace, name) =>
      Promise.resolve(namespace === "default" && name === "web" ? timeline : undefined);
    const json = await kit.ask("/debug/pods/default/web/timeline");
    deepEqual([json.status, json.headers["content-type"]], [200, "application/json"]);
    deepEqual(JSON.parse(json.body), timeline);
    const svg = await kit.ask("/debug/pods/default/web/timeline?format=svg");
    equal(svg.headers["content-type"], "image/svg+xml; charset=utf-8");
    match(svg.body, /^<svg [^>]*>.*running after 900 ms.*<\/svg>\n$/s);
    match(svg.body, /pull web: 500 ms, failed: &lt;b&gt;&#34;no&#34;&lt;\/b&gt;/);
    equal(svg.body.includes("<b>"), false);
  });

  test("of an unknown pod is 404, in an unknown format 400, with main stuck 503", async () => {
    kit = await new ServerKit().open();
    equal((await kit.ask("/debug/pods/default/nobody/timeline")).status, 404);
    equal((await kit.ask("/debug/pods/default/web/timeline?format=png")).status, 400);
    equal((await kit.ask("/debug/pods/default/web/timeline", "POST")).status, 405);
    kit.timeline = () => Promise.reject(new Error("no response within 5000 ms"));
    const stuck = await kit.ask("/debug/pods/default/web/timeline");
    deepEqual([stuck.status, stuck.body], [503, "the main thread did not respond: no response within 5000 ms\n"]);
  });
});

describe("/pods", () => {
  test("a kubelet without pods serves an empty list", async () => {
    kit = await new ServerKit().open();
    const { status, headers, body } = await kit.ask("/pods");
    deepEqual([status, headers["content-type"]], [200, "application/json"]);
    equal(body, '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}\n');
  });

  test("snapshot, then deltas; a changed pod is not served stale", async () => {
    kit = await new ServerKit().open();
    const images = async (): Promise<string[]> => {
      const list = JSON.parse((await kit.ask("/pods")).body) as { items: Pod[] };
      return list.items.map((item) => `${item.metadata.name}=${item.spec.containers[0]?.image ?? ""}`);
    };
    sendPods(kit.logic, [pod("a"), pod("b")]);
    deepEqual(await images(), ["a=busybox", "b=busybox"]);
    kit.logic.applyPods(podsDelta([pod("a", "nginx"), pod("c")], [podUid("uid-b")]));
    deepEqual(await images(), ["a=nginx", "c=busybox"]);
    const statuses = ["uid-a", "uid-b"].map((uid) => ({ uid: podUid(uid), status: `{"phase":"Running"}` }));
    kit.logic.applyPods({ set: statuses, removed: [] });
    const { items } = JSON.parse((await kit.ask("/pods")).body) as { items: Pod[] };
    deepEqual(
      items.map(({ metadata, status }) => [metadata.name, status?.phase]),
      [
        ["a", "Running"],
        ["c", undefined],
      ],
    );
    sendPods(kit.logic, [pod("d")]);
    deepEqual(await images(), ["d=busybox"]);
  });

  test("a request gets the pods that main knows, and those of the last change while main is stuck", async () => {
    kit = await new ServerKit().open();
    const names = async (): Promise<string[]> => {
      const list = JSON.parse((await kit.ask("/pods")).body) as { items: Pod[] };
      return list.items.map(({ metadata }) => metadata.name);
    };
    sendPods(kit.logic, [pod("a")]);
    kit.sendPods = () => {
      kit.logic.applyPods(podsDelta([pod("b")], [podUid("uid-a")]));
      return Promise.resolve();
    };
    deepEqual(await names(), ["b"]);
    kit.sendPods = () => Promise.reject(new Error("main does not answer"));
    deepEqual(await names(), ["b"]);
  });

  test("items are upstream's: no kind of their own, always a status", async () => {
    kit = await new ServerKit().open();
    sendPods(kit.logic, [pod("a")]);
    const list = JSON.parse((await kit.ask("/pods/")).body) as { items: object[] };
    deepEqual(Object.keys(list.items[0] ?? {}), ["metadata", "spec", "status"]);
  });

  test("a long list comes whole, in pieces", async () => {
    kit = await new ServerKit().open();
    const pods = Array.from({ length: 500 }, (_, i) => pod(`p${i}`, "x".repeat(5000)));
    sendPods(kit.logic, pods);
    const list = JSON.parse((await kit.ask("/pods")).body) as { items: Pod[] };
    equal(list.items.length, 500);
    const pieces = new PodList(() => Promise.resolve());
    showPods(pieces, pods);
    ok([...pieces.chunks()].every((piece) => piece.length < 100_000));
  });

  test("a client that disconnects in mid-list leaves nothing behind", async () => {
    kit = await new ServerKit().open();
    sendPods(
      kit.logic,
      Array.from({ length: 4000 }, (_, i) => pod(`p${i}`, "x".repeat(5000))),
    );
    const [response] = (await once(get(`${kit.base}/pods`, { agent: false }), "response")) as [IncomingMessage];
    response.destroy();
    for (;;) {
      const text = (await kit.ask("/metrics")).body;
      if (/kubelet_http_inflight_requests\{[^}]*path="pods"[^}]*\} 0/.test(text)) break;
    }
    deepEqual(kit.log.lines, []);
  });
});

describe("/healthz", () => {
  test("healthz answers plainly, verbosely and without excluded checks", async () => {
    kit = await new ServerKit().open();
    const { status, headers, body } = await kit.ask("/healthz");
    deepEqual([status, headers["content-type"], body], [200, "text/plain; charset=utf-8", "ok"]);
    equal(
      (await kit.ask("/healthz?verbose")).body,
      "[+]ping ok\n[+]log ok\n[+]syncloop ok\n[+]device-plugin ok\nhealthz check passed\n",
    );
    equal(
      (await kit.ask("/healthz?verbose&exclude=log&exclude=x")).body,
      '[+]ping ok\n[+]log excluded: ok\n[+]syncloop ok\n[+]device-plugin ok\nwarn: some health checks cannot be excluded: no matches for "x"\nhealthz check passed\n',
    );
  });

  test("a stuck sync loop", async () => {
    kit = await new ServerKit().open();
    kit.syncLoopAge = 300_001;
    const failed = await kit.ask("/healthz");
    deepEqual(
      [failed.status, failed.body],
      [500, "[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\n[+]device-plugin ok\nhealthz check failed\n"],
    );
    equal((await kit.ask("/healthz?exclude=syncloop")).status, 200);
    const one = await kit.ask("/healthz/syncloop");
    deepEqual([one.status, one.body], [500, "internal server error: sync Loop took longer than expected\n"]);
    equal((await kit.ask("/healthz/ping")).body, "ok");
    equal((await kit.ask("/healthz", "GET", kit.healthzBase)).body, "ok", "the healthz port knows ping only");
  });

  test("requests to the healthz port count in the service level indicators", async () => {
    kit = await new ServerKit().open();
    await kit.ask("/healthz", "GET", kit.healthzBase);
    const { headers, body } = await kit.ask("/metrics/slis");
    match(body, /^kubernetes_healthchecks_total\{name="ping",status="success",type="healthz"\} 1$/m);
    match(String(headers["process-start-time-unix"]), /^\d{10}$/);
  });

  test("browsers must not guess the type of health texts", async () => {
    kit = await new ServerKit().open();
    for (const path of ["/healthz", "/healthz?verbose", "/healthz/ping"])
      equal((await kit.ask(path)).headers["x-content-type-options"], "nosniff", path);
  });

  test("device plugins that cannot register, until they can", async () => {
    kit = await new ServerKit().open({ devicePluginProblem: "device registration error: no socket" });
    const one = await kit.ask("/healthz/device-plugin");
    deepEqual([one.status, one.body], [500, "internal server error: device registration error: no socket\n"]);
    equal((await kit.ask("/healthz")).status, 500);
    kit.logic.setDevicePluginProblem("");
    equal((await kit.ask("/healthz/device-plugin")).body, "ok");
    equal((await kit.ask("/healthz")).status, 200);
  });

  test("threads that do not run are named, and the whole passes all the same", async () => {
    kit = await new ServerKit().open();
    kit.threads = [
      slot("main", "running", 1),
      slot("prober", "exited", 0, Infinity),
      slot("node-status", "spawned", 1, Infinity),
      slot("image-gc", "resting", 7, Infinity),
    ];
    equal((await kit.ask("/healthz/threads")).body, "ok", "one thread has no work yet, one starts, one rests");
    kit.threads = [
      slot("pleg", "running", 2),
      slot("secure-server", "spawned", 2),
      slot("eviction", "running", 1, 10_001),
    ];
    const problem = "not running: secure-server (spawned), eviction (running)";
    const one = await kit.ask("/healthz/threads");
    deepEqual([one.status, one.body], [500, `internal server error: ${problem}\n`]);
    const all = await kit.ask("/healthz?verbose");
    equal(all.status, 200);
    ok(all.body.includes(`[-]threads failed, which fails nothing else: ${problem}\n`), all.body);
    equal((await kit.ask("/healthz")).body, "ok");
    equal(/threads/.test((await kit.ask("/healthz?verbose&exclude=threads")).body), false);
  });

  test("a log that no longer flushes", async () => {
    kit = await new ServerKit().open();
    kit.logAge = 120_001;
    equal((await kit.ask("/healthz/log")).status, 500);
    equal((await kit.ask("/healthz")).status, 500);
  });

  test("a log that is not flushed makes the watch age", async () => {
    kit = await new ServerKit().open();
    let works = true;
    const clock = new SteppedClock(1000);
    const watch = new LogFlushWatch({ flush: (done) => (works ? done?.() : undefined) }, clock);
    clock.step(FLUSH_INTERVAL_MS);
    equal(watch.ageMs(), 0);
    works = false;
    clock.step(5 * FLUSH_INTERVAL_MS);
    equal(watch.ageMs(), 5 * FLUSH_INTERVAL_MS);
    watch.stop();
    equal(clock.pending, 0);
  });
});

describe("paths that are not served", () => {
  const table: [string, string, number, string][] = [
    ["GET", "/", 404, "404 page not found\n"],
    ["GET", "/stats/nothing", 404, "404: Page Not Found"],
    ["GET", "/stats", 307, '<a href="/stats/">Temporary Redirect</a>.\n\n'],
    ["GET", "/healthz/nothing", 404, "404 page not found\n"],
    ["POST", "/pods", 405, "405: Method Not Allowed"],
    ["POST", "/run/ns/pod/c?cmd=ls", 405, "Debug endpoints are disabled.\n"],
    ["GET", "/exec/ns/pod/c", 405, "Debug endpoints are disabled.\n"],
    ["GET", "/containerLogs/ns/pod/c", 405, "Debug endpoints are disabled.\n"],
    ["GET", "/runningpods/", 405, "Debug endpoints are disabled.\n"],
    ["GET", "/debug/pprof/heap", 405, "Debug endpoints are disabled.\n"],
    ["GET", "/logs/", 405, "Debug endpoints are disabled.\n"],
  ];
  for (const [method, path, status, body] of table) {
    test(`${method} ${path}`, async () => {
      kit = await new ServerKit().open();
      const answer = await kit.ask(path, method);
      deepEqual([answer.status, answer.body], [status, body]);
    });
  }

  test("a read-only port without pods serves metrics and health", async () => {
    kit = await new ServerKit().open({ readOnlyPods: false });
    for (const path of ["/pods", "/pods/", "/%70ods", "/debug/pods/default/web/timeline"]) {
      const { status, body } = await kit.ask(path);
      equal(status, 405, path);
      match(body, /^Pods are not served on this port: /);
    }
    for (const path of ["/healthz", "/healthz/ping", "/metrics", "/metrics/probes", "/metrics/slis"])
      equal((await kit.ask(path)).status, 200, path);
  });

  test("a malformed path gets a response and causes no crash", async () => {
    kit = await new ServerKit().open();
    ok((await kit.ask("/pods/%zz")).status >= 400);
    equal((await kit.ask("/healthz")).status, 200);
  });

  test("a head of more than 1 MiB is refused, a smaller one is not", async () => {
    kit = await new ServerKit().open();
    const port = Number(new URL(kit.base).port);
    const statusOf = async (bytes: number): Promise<string> => {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => undefined);
      socket.write(`GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: ${"a".repeat(bytes)}\r\n\r\n`);
      const [data] = (await once(socket, "data")) as [Buffer];
      socket.destroy();
      return data.toString("latin1").slice(9, 12);
    };
    equal(await statusOf(1000 * 1024), "200");
    equal(await statusOf(1100 * 1024), "431");
  });
});

describe("/metrics", () => {
  test("all threads in one text", async () => {
    kit = await new ServerKit().open();
    await kit.ask("/pods");
    await kit.ask("/nonsense");
    const { headers, body } = await kit.ask("/metrics");
    equal(headers["content-type"], "text/plain; version=0.0.4; charset=utf-8; escaping=underscores");
    match(body, /^kubelet_running_pods 7$/m);
    match(body, /^process_resident_memory_bytes \d+$/m);
    const labels = (path: string): string =>
      `{long_running="false",method="GET",path="${path}",server_type="readonly"}`;
    for (const path of ["pods", "other"]) ok(body.includes(`kubelet_http_requests_total${labels(path)} 1\n`), path);
    ok(body.includes(`kubelet_http_inflight_requests${labels("metrics")} 1\n`));
  });

  test("probes have a page of their own", async () => {
    kit = await new ServerKit().open();
    const { status, headers, body } = await kit.ask("/metrics/probes");
    equal(status, 200);
    equal(headers["content-type"], "text/plain; version=0.0.4; charset=utf-8; escaping=underscores");
    match(body, /^prober_probe_total 3$/m);
    match(body, /^process_start_time_seconds \d+/m);
    const names = body.split("\n").filter((line) => line.startsWith("# TYPE "));
    equal(names.length, 2, names.join("; "));
    ok(!(await kit.ask("/metrics")).body.includes("prober_probe_total"));
  });

  test("a stuck main: the last known figures, after a deadline", async () => {
    kit = await new ServerKit().open();
    await kit.ask("/metrics");
    let asked = 0;
    kit.collect = () => {
      asked++;
      return new Promise(() => undefined);
    };
    const answers = [kit.ask("/metrics"), kit.ask("/metrics")];
    await until(() => kit.clock.pending >= 2);
    kit.clock.step(COLLECT_DEADLINE_MS);
    for (const { body } of await Promise.all(answers)) match(body, /^kubelet_running_pods 7$/m);
    equal(asked, 1, "one question at a time");
    const own = await kit.logic.metrics();
    equal(own.families.find(({ name }) => name === "nodelet_scrapes_late_total")?.samples[0]?.value, 2);
    equal(kit.clock.pending, 0);
  });

  test("a failing main is a warning", async () => {
    kit = await new ServerKit().open();
    kit.collect = () => Promise.reject(new Error("main is gone"));
    equal((await kit.ask("/metrics")).status, 200);
    equal(kit.log.lines.length, 1);
  });
});

describe("listening", () => {
  test("no port is opened if all are off", async () => {
    kit = await new ServerKit().open({ readOnlyPort: 0, healthzPort: 0 });
    deepEqual(await kit.logic.listening(), {});
  });

  test("a port that is taken: one clear error, tried again until it is free", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    kit = await new ServerKit().open({ readOnlyPort: 0, healthzPort: port });
    deepEqual(await kit.logic.listening(), {});
    const retried = async (): Promise<void> => {
      await until(() => kit.clock.pending > 0);
    };
    for (let i = 0; i < 3; i++) {
      await retried();
      kit.clock.step(LISTEN_RETRY_MS);
    }
    await retried();
    equal(kit.log.lines.length, 1);
    match(
      kit.log.lines[0] ?? "",
      new RegExp(
        `healthz server cannot listen on 127.0.0.1:${port}: another process listens there. Change it with --healthz-port`,
      ),
    );
    other.close();
    await once(other, "close");
    kit.clock.step(LISTEN_RETRY_MS);
    await until(async () => (await kit.logic.listening()).healthz !== undefined);
    equal((await kit.ask("/healthz", "GET", `http://127.0.0.1:${port}`)).body, "ok");
  });

  test("stop ends connections and frees the port, and ends the retries", async () => {
    kit = await new ServerKit().open();
    const port = Number(new URL(kit.base).port);
    const idle = connect(port, "127.0.0.1");
    await once(idle, "connect");
    await kit.logic.stop();
    await once(idle, "close");
    const again = createServer().listen(port, "127.0.0.1");
    await once(again, "listening");
    again.close();
    equal(kit.clock.pending, 0);
  });

  test("stopped while it begins to listen, it frees the port", async () => {
    kit = await new ServerKit().open({ readOnlyPort: 0, healthzPort: 0 });
    const port = await freePort();
    const other = new ServerKit();
    const opening = other.open({ readOnlyPort: port, healthzPort: 0 });
    await until(() => (other.logic as ServerLogic | undefined) !== undefined);
    await other.logic.stop();
    await opening;
    const again = createServer().listen(port, "127.0.0.1");
    await once(again, "listening");
    again.close();
  });

  test("startServer serves until drained", async () => {
    kit = await new ServerKit().open({ readOnlyPort: 0, healthzPort: 0 });
    const clock = new SteppedClock(1000);
    let age = 0;
    const served = await startServer({
      name: "server",
      init: {
        address: "127.0.0.1",
        readOnlyPort: await freePort(),
        healthzBindAddress: "127.0.0.1",
        healthzPort: 0,
        syncLoopMaxAgeMs: 10,
        devicePluginProblem: "",
        manifests: NO_MANIFESTS,
        nodeName: "n1",
        configz: CONFIGZ,
        runtime: RUNTIME_INIT,
        stats: STATS_INIT,
      },
      upcalls: {
        collectMetrics: () => Promise.resolve([]),
        collectProbeMetrics: () => Promise.resolve([]),
        podDisks: () => Promise.resolve([]),
        timeline: () => Promise.resolve(undefined),
        mirrorUid: () => Promise.resolve(undefined),
        setVerbosity: () => Promise.resolve(),
        nodeFacts: () => Promise.reject(new Error("not asked")),
        podFacts: () => Promise.resolve(undefined),
        podStarts: () => Promise.resolve({}),
        allPodFacts: () => Promise.resolve({}),
        restartPod: () => Promise.resolve(undefined),
        unusedImages: () => Promise.resolve([]),
        events: () => Promise.resolve([]),
        manifests: () => Promise.reject(new Error("not asked")),
        sendPods: () => Promise.resolve(),
      },
      upcallsWithin: () => ({
        manifests: () => Promise.reject(new Error("not asked")),
        sendPods: () => Promise.resolve(),
      }),
      boardReader: { snapshot: () => [], ageMs: (thread) => (thread === "main" ? age : Infinity) },
      log: kit.log.logger,
      clock,
    });
    const { readOnly } = await served.control.listening();
    const base = `http://127.0.0.1:${readOnly?.port ?? 0}`;
    equal((await kit.ask("/healthz", "GET", base)).status, 200);
    age = 11;
    equal((await kit.ask("/healthz", "GET", base)).status, 500);
    await served.drain();
    equal(clock.pending, 0);
  });
});
