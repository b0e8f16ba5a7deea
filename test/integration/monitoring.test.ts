// docs/monitoring.md, the Grafana dashboard and the Prometheus rules against the pages of a whole kubelet.
// @promise Server: Dashboards and alerts of kubernetes-mixin find the kubelet's series (docs/monitoring.md has the
//   table); those of tools/deploy/monitoring name only series that exist. promtool accepts the rules, and Prometheus
//   has a result for each query of the dashboard. Its JSON fits the type Dashboard of @grafana/schema 13.2.3 (by hand;
//   Grafana itself was not run).
// @with test/cluster/monitoring.test.ts

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import {
  ownSeries,
  panels,
  promisedSeries,
  rules,
  RULES,
  seriesIn,
  servedSeries,
  variables,
} from "../support/monitoring.js";
import { Prometheus } from "../support/prometheus.js";
import { IDLE, manifest, shell, waitForPod } from "../support/static-pods.js";

/** On the pages of every node only after an event, or only in a cluster. Each has the place where a test shows it. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  kubelet_evictions: "test/integration/eviction.test.ts",
  nodelet_thread_restarts_total: "test/faults/threads.test.ts",
  nodelet_node_lease_withheld_total: "test/cluster/monitoring.test.ts",
};

let node: TestNode;

before(async () => {
  node = await startNode();
  const app = shell("app", IDLE, {
    resources: { limits: { cpu: "200m", memory: "64Mi" } },
    readinessProbe: { periodSeconds: 1, exec: { command: ["true"] } },
    volumeMounts: [{ name: "data", mountPath: "/data" }],
  });
  await node.writeManifest(
    "watched",
    manifest("watched", [app], { spec: { volumes: [{ name: "data", emptyDir: {} }] } }),
  );
  // Nothing listens there: the metrics of failed calls have their first series.
  const unpulled = { ...shell("app", IDLE), image: "127.0.0.1:1/none:1" };
  await node.writeManifest("unpulled", manifest("unpulled", [unpulled]));
  await waitForPod(
    node,
    "watched",
    ({ status }) =>
      status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true,
    "ready",
  );
});
after(() => node.stop());

async function series(page: string): Promise<Set<string>> {
  return servedSeries(await (await fetch(`${node.kubelet.url}${page}`)).text());
}

test("every series that the table promises always is on its page", async () => {
  const promised = promisedSeries();
  assert.ok(promised.length > 40);
  for (const page of new Set(promised.map((one) => one.page))) {
    const wanted = promised.filter((one) => one.page === page && one.served === "always").map(({ name }) => name);
    assert.ok(wanted.length > 0, page);
    let missing: string[] = [];
    await waitFor(
      async () => {
        const served = await series(page);
        missing = wanted.filter((name) => !served.has(name));
        return missing.length === 0;
      },
      {
        what: `the series of ${page}`,
        timeoutMs: 60_000,
        intervalMs: 500,
        lastSeen: () => `missing: ${missing.join(", ")}`,
      },
    );
  }
});

test("a series that the table says is not served is not", async () => {
  const served = await series("/metrics");
  const refused = promisedSeries().filter((one) => one.served.startsWith("no: "));
  assert.ok(refused.length > 0);
  assert.deepEqual(
    refused.filter(({ name }) => served.has(name)),
    [],
  );
});

test("every series of the dashboard and the rules exists", async () => {
  const own = ownSeries();
  assert.ok(own.size > 30);
  let missing: string[] = [];
  await waitFor(
    async () => {
      const served = await series("/metrics");
      missing = [...own].filter((name) => !served.has(name) && !(name in ELSEWHERE));
      return missing.length === 0;
    },
    { what: "the series", timeoutMs: 60_000, intervalMs: 500, lastSeen: () => `missing: ${missing.join(", ")}` },
  );
});

test("the names in an expression are found, labels and recorded series are not", () => {
  assert.deepEqual(
    seriesIn('sum(rate(kubelet_x_seconds_bucket{container_state="a"}[5m])) / instance:nodelet_y:p99 > nodelet_z'),
    ["kubelet_x_seconds", "nodelet_z"],
  );
});

test("promtool accepts the rules, and their tests pass", async () => {
  const run = promisify(execFile);
  const folder = dirname(RULES);
  const checked = await run("promtool", ["check", "rules", RULES]);
  assert.match(checked.stdout, new RegExp(`SUCCESS: ${rules().length} rules found`));
  const tested = await run("promtool", ["test", "rules", "rules.test.yaml"], { cwd: folder });
  assert.match(tested.stdout, /SUCCESS/);
});

test("promtool can parse every expression of the dashboard", async () => {
  const { mkdtemp, rm, writeFile } = await import("node:fs/promises");
  const dir = await mkdtemp("/tmp/nodelet-dashboard-");
  try {
    const expressions = panels().flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    assert.ok(expressions.length > 30);
    const plain = expressions.map((expr) => expr.replaceAll("$__rate_interval", "5m"));
    const found = plain.map((expr, index) => ({ record: `panel:${index}`, expr }));
    await writeFile(`${dir}/rules.json`, JSON.stringify({ groups: [{ name: "panels", rules: found }] }));
    const { stdout } = await promisify(execFile)("promtool", ["check", "rules", `${dir}/rules.json`]);
    assert.match(stdout, /SUCCESS/);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

test("every query of the dashboard gives a result in Prometheus, for the job and the instances that it offers", async () => {
  // Series that appear with an event: a page with one of each, under the labels of the kubelet's.
  let requests = 0;
  const events = createServer((_request, response) => response.end(eventPage(++requests)));
  events.listen(0, "127.0.0.1");
  await once(events, "listening");
  const { port } = events.address() as AddressInfo;
  await using prometheus = await Prometheus.start("kubelet", [new URL(node.kubelet.url).host, `127.0.0.1:${port}`]);
  try {
    for (const variable of variables()) {
      const [, series = "", label = ""] = /^label_values\((.*), (\w+)\)$/.exec(fill(variable)) ?? [];
      await waitFor(async () => (await prometheus.query(series)).some(({ metric }) => label in metric), {
        what: variable,
        timeoutMs: 60_000,
      });
    }
    let without: string[] = panels().flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => `${title}: ${expr}`),
    );
    assert.ok(without.length > 30);
    // A rate has a value after a change only.
    await node.writeManifest("starts", manifest("starts", [shell("app", IDLE)]));
    await waitFor(
      async () => {
        const checked = await Promise.all(
          without.map(async (query) => {
            const found = await prometheus.query(fill(query.slice(query.indexOf(": ") + 2)));
            return found.some(({ value: [, text] }) => text !== "NaN") ? [] : [query];
          }),
        );
        without = checked.flat();
        return without.length === 0;
      },
      { what: "a result of every query", timeoutMs: 90_000, intervalMs: 1000, lastSeen: () => without.join("\n") },
    );
  } finally {
    events.close();
    events.closeAllConnections();
  }
});

/** An expression as Grafana sends it, for a scrape each second. */
function fill(expression: string): string {
  return expression.replaceAll("$__rate_interval", "15s").replaceAll("$job", "kubelet").replaceAll("$instance", ".+");
}

/** Each value grows with the requests, as far as it must for the query to show it. */
function eventPage(requests: number): string {
  return [
    `kubelet_evictions{eviction_signal="memory.available"} ${requests}`,
    `nodelet_thread_restarts_total{thread="pleg"} ${requests}`,
    `nodelet_queue_dropped_total{queue="pleg"} ${requests}`,
    "",
  ].join("\n");
}

test("every panel has a title, a query and a description", () => {
  const shown = panels().filter(({ type }) => type !== "row");
  const titles = shown.map(({ title }) => title);
  assert.equal(new Set(titles).size, titles.length);
  for (const wanted of [
    "Pod start beside the runtime's floor",
    "Thread lateness",
    "Queue depth",
    "Heap per thread",
    "Probe lateness",
    "Pressures",
  ])
    assert.ok(
      titles.some((title) => title.startsWith(wanted)),
      wanted,
    );
});
