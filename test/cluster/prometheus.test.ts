// Debian's Prometheus 3 as in a cluster: it finds the node at the API server, scrapes the pages of port 10250 over TLS
// with the token of a service account, and evaluates the rules that nodelet ships. The scrape configuration is that of
// docs/monitoring.md.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse, parseDocument } from "yaml";
import { waitFor } from "../harness/node.js";
import {
  boundPod,
  isReady,
  NODE_NAME,
  NOT_REACHABLE,
  startClusterNode,
  type ClusterNode,
} from "../support/cluster-node.js";
import { blocksOf } from "../support/doc-blocks.js";
import { orderFault } from "../support/fault-orders.js";
import { clientPrograms } from "../support/kubectl.js";
import { RULES, rules } from "../support/monitoring.js";
import { Prometheus, type Alert } from "../support/prometheus.js";
import { IDLE, shell } from "../support/static-pods.js";

const PAGES = ["/metrics", "/metrics/cadvisor", "/metrics/probes", "/metrics/resource"];
const DOCUMENT = fileURLToPath(new URL("../../../docs/monitoring.md", import.meta.url));
const PROMETHEUS = { name: "system:serviceaccount:monitoring:prometheus", groups: ["system:serviceaccounts"] };
const TOKEN = "prometheus-token";

type Scrape = Record<string, unknown>;

let cluster: ClusterNode;
let prometheus: Prometheus;
let dir: string;
let nativeScrape: Scrape;

describe("Prometheus in a cluster", { skip: NOT_REACHABLE }, () => {
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "scrape-"));
    cluster = await startClusterNode({
      ...{ reachable: true, approveServingCertificates: true },
      config: { serverTLSBootstrap: true, featureGates: { NativeHistograms: true } },
      env: { NODELET_FAULTS: "1" },
      tokens: new Map([
        [TOKEN, PROMETHEUS],
        ["other-token", { name: "other", groups: [] }],
      ]),
    });
    const { fixture, api } = cluster;
    assert.ok(fixture !== undefined);
    fixture.settings.grants.push(
      ({ name }, { resource, subresource, verb }) =>
        name === PROMETHEUS.name &&
        resource === "nodes" &&
        (subresource === "metrics" ? verb === "get" : ["get", "list", "watch"].includes(verb)),
    );
    const probe = { exec: { command: ["true"] }, periodSeconds: 1 };
    const container = shell("app", IDLE, { readinessProbe: probe, imagePullPolicy: "Never" });
    await api.create("pods", boundPod("watched", "", { containers: [container] }));
    await api.waitFor("pods", "default", "watched", isReady, { what: "the pod to be Ready" });
    const [token, ca] = [join(dir, "token"), join(dir, "ca.crt")];
    await writeFile(token, TOKEN);
    await writeFile(ca, fixture.ca);
    const documented = (await documentedScrapes()).map((scrape) => inTest(scrape, { token, ca, server: fixture.url }));
    const [first = {}] = documented;
    const others = ["/metrics/probes", "/metrics/resource"].map((path) => ({
      ...first,
      job_name: path,
      metrics_path: path,
    }));
    nativeScrape = first;
    // Another instance: sums by instance count the page once.
    const relabel_configs = [{ target_label: "instance", replacement: "protobuf" }];
    const protobuf = {
      ...first,
      job_name: "protobuf",
      scrape_protocols: ["PrometheusProto"],
      always_scrape_classic_histograms: true,
      relabel_configs,
    };
    const verified = { ...first, job_name: "verified", tls_config: { ca_file: ca }, metrics_path: "/metrics/probes" };
    const stranger = { ...first, job_name: "stranger", authorization: { credentials: "other-token" } };
    prometheus = await Prometheus.with({
      scrapes: [...documented, ...others, protobuf, verified, stranger],
      rules: [await impatientRules()],
      program: join(clientPrograms(), "prometheus"),
    });
  });
  after(async () => {
    await prometheus[Symbol.asyncDispose]();
    await cluster.stop();
    await rm(dir, { recursive: true, force: true });
  });

  async function documentedScrapes(): Promise<Scrape[]> {
    const blocks = blocksOf(await readFile(DOCUMENT, "utf8")).filter(({ text }) =>
      text.includes("kubernetes_sd_configs"),
    );
    assert.equal(blocks.length, 1);
    return (parse(blocks[0]?.text ?? "") as { scrape_configs: Scrape[] }).scrape_configs;
  }

  /** In a pod the token, the CA and the address of the API server are at known places. */
  function inTest(scrape: Scrape, { token, ca, server }: { token: string; ca: string; server: string }): Scrape {
    const authorization = { credentials_file: token };
    const discovery = { role: "node", api_server: server, authorization, tls_config: { ca_file: ca } };
    return { ...scrape, authorization, kubernetes_sd_configs: [discovery] };
  }

  /** The shipped rules, whose alerts fire after a second: only `for` is another. */
  async function impatientRules(): Promise<string> {
    const document = parseDocument(await readFile(RULES, "utf8"));
    const path = join(dir, "rules.yaml");
    const text = document.toString().replaceAll(/^( +for:) \d+m$/gm, "$1 1s");
    await writeFile(path, text);
    return path;
  }

  test("every page is scraped, as text and as protobuf, and a client without the right gets none", async () => {
    const jobs = ["cadvisor", "kubelet", ...PAGES.slice(2), "protobuf", "verified"];
    let seen: string[] = [];
    await waitFor(
      async () => {
        const targets = await prometheus.targets();
        seen = targets.map(({ labels, health, lastError }) => `${labels["job"]} ${health} ${lastError}`).sort();
        // The first scrape of a page loads its code, and may take longer than the interval of a second.
        const isSeen = ({ labels, health }: (typeof targets)[number]): boolean =>
          health === (labels["job"] === "stranger" ? "down" : "up");
        return targets.length === jobs.length + 1 && targets.every(isSeen);
      },
      { what: "a scrape of every page", lastSeen: () => seen.join("\n") },
    );
    assert.deepEqual(
      seen.filter((line) => !line.startsWith("stranger ")),
      ["/metrics/probes", "/metrics/resource", "cadvisor", "kubelet", "protobuf", "verified"].map(
        (job) => `${job} up `,
      ),
    );
    assert.match(seen.find((line) => line.startsWith("stranger ")) ?? "", /^stranger down .*403/);
    for (const [job, series] of [
      ["kubelet", `kubelet_node_name{node="${NODE_NAME}"}`],
      ["protobuf", "kubelet_running_pods"],
      ["cadvisor", 'container_memory_working_set_bytes{pod="watched", container="app"}'],
      ["/metrics/probes", 'prober_probe_total{pod="watched", probe_type="Readiness", result="successful"}'],
      ["/metrics/resource", 'pod_memory_working_set_bytes{pod="watched"}'],
    ] as const) {
      const query = `${series.replace("}", ",")}${series.includes("{") ? "" : "{"}job="${job}"}`;
      await waitFor(async () => (await prometheus.query(query)).length > 0, { what: query });
    }
  });

  test("a scrape by text and one by protobuf have the same series", async () => {
    let missing: string[] = [];
    await waitFor(
      async () => {
        const names = async (job: string): Promise<string[]> =>
          (
            await prometheus.query(
              `count by (__name__) ({job="${job}", __name__=~"kubelet_.+|nodelet_.+|rest_client_.+"})`,
            )
          ).map(({ metric }) => metric["__name__"] ?? "");
        const [text, protobuf] = [await names("kubelet"), await names("protobuf")];
        missing = [
          ...text.filter((name) => !protobuf.includes(name)),
          ...protobuf.filter((name) => !text.includes(name)),
        ];
        return text.length > 50 && missing.length === 0;
      },
      { what: "equal series", lastSeen: () => missing.join() },
    );
  });

  test("Prometheus computes quantiles of the kubelet's native histograms", async () => {
    await using native = await Prometheus.with({
      scrapes: [{ ...nativeScrape, job_name: "native" }],
      program: join(clientPrograms(), "prometheus"),
      flags: ["--enable-feature=native-histograms"],
    });
    const query =
      "histogram_quantile(0.99, kubelet_runtime_operations_duration_seconds{operation_type='run_podsandbox'})";
    let seen = "";
    await waitFor(
      async () => {
        seen = (await native.query(query))[0]?.value[1] ?? "no sample";
        return Number(seen) > 0 && Number(seen) < 600;
      },
      { what: query, lastSeen: () => seen },
    );
    assert.deepEqual(await native.query("kubelet_runtime_operations_duration_seconds_bucket"), []);
  });

  describe("promtool checks the text of each page", () => {
    for (const page of PAGES) {
      test(page, async () => {
        const text = await (await fetch(`${cluster.node.kubelet.url}${page}`)).text();
        const { code, output } = await promtool(["check", "metrics"], text);
        // 3: the text is right, and names differ from the guidelines. Upstream's names are what they are.
        assert.ok([0, 3].includes(code), output);
        assert.deepEqual(
          output.split("\n").filter((line) => line.startsWith("nodelet_")),
          [],
        );
      });
    }
  });

  test("promtool 3 accepts the rules", async () => {
    const { code, output } = await promtool(["check", "rules", "--lint=all", RULES]);
    assert.equal(code, 0, output);
  });

  function promtool(args: readonly string[], input = ""): Promise<{ code: number; output: string }> {
    return new Promise((resolve, reject) => {
      const child = spawn(join(clientPrograms(), "promtool"), args);
      let output = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (part: Buffer) => (output += part.toString()));
      child.once("error", reject).once("close", (code) => resolve({ code: code ?? -1, output }));
      child.stdin.end(input);
    });
  }

  describe("the rules that nodelet ships", () => {
    test("are all evaluated without an error", async () => {
      let seen: string[] = [];
      await waitFor(
        async () => {
          seen = (await prometheus.rules()).map(({ name, health, lastError = "" }) => `${name} ${health} ${lastError}`);
          return seen.length > 0 && seen.every((line) => !/ unknown /.test(line));
        },
        { what: "an evaluation of every rule", lastSeen: () => seen.join("\n") },
      );
      assert.equal(seen.length, rules().length);
      assert.deepEqual(
        seen.filter((line) => !line.endsWith(" ok ")),
        [],
      );
    });

    test("fire NodeletManifestsRefused while a manifest is refused", async () => {
      assert.equal(await firing("NodeletManifestsRefused"), undefined);
      await cluster.node.writeManifest("refused", "kind: Pod\nspec: [\n");
      const alert = await waitFor(() => firing("NodeletManifestsRefused"), { what: "the alert to fire" });
      assert.equal(alert.labels["severity"], "warning");
      assert.match(alert.annotations["description"] ?? "", /^1 manifests on (testnode|protobuf) are refused/);
      await cluster.node.removeManifest("refused");
      await waitFor(async () => (await firing("NodeletManifestsRefused")) === undefined, { what: "the alert to end" });
    });

    test("fire NodeletThreadRestarts for a thread that ends again and again", async () => {
      assert.equal(await firing("NodeletThreadRestarts"), undefined);
      for (let ends = 1; ends <= 4; ends++) {
        await orderFault(cluster.node, "terminate image-gc");
        const query = `sum(nodelet_thread_restarts_total{job="kubelet", thread="image-gc"})`;
        // Each end is seen by a scrape.
        await waitFor(async () => Number((await prometheus.query(query))[0]?.value[1] ?? 0) >= ends, {
          what: `restart ${ends} in Prometheus`,
        });
      }
      const alert = await waitFor(() => firing("NodeletThreadRestarts"), { what: "the alert to fire" });
      assert.equal(alert.labels["thread"], "image-gc");
      assert.match(
        alert.annotations["description"] ?? "",
        /^The thread image-gc on (testnode|protobuf) was restarted [\d.]+ times/,
      );
    });

    async function firing(name: string): Promise<Alert | undefined> {
      return (await prometheus.alerts()).find(
        ({ labels, state }) => labels["alertname"] === name && state === "firing",
      );
    }
  });
});
