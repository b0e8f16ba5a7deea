// --dynamic-config-dir on a node of a cluster: the ConfigMap that the Node assigns becomes the kubelet's configuration,
// with the node's own credentials and NodeRestriction; no pod is touched.
// @promise Configuration and manifests: A ConfigMap that the Node assigns replaces the file of --config within 10 s of
//   a change; a bad one is refused with its line, a crashing one rolled back, a deleted or forbidden one named; API
//   server away at the start: the checkpoint; pods untouched.
// @promise Configuration and manifests: A ConfigMap outside `--dynamic-config-sources` never becomes the configuration,
//   also if a pod makes it readable and from no checkpoint; it is not read. No assignment stops changes of the node's
//   own files.
// @with test/workers/node-status/config-source/follow-config-source.test.ts,
//   test/main/process/dynamic-config/cluster-source.test.ts, test/main/process/dynamic-config/cluster-property.test.ts
// @promise Configuration and manifests: Relabelling a ConfigMap or making it again begins no trial; condition,
//   annotation, event and metrics have upstream's names; the node's own credentials suffice.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { waitFor, type PodView } from "../harness/node.js";
import type { ApiObject, Fields } from "../support/api-kit.js";
import { NODE_NAME, startClusterNode, type ClusterNode } from "../support/cluster-node.js";
import { nodelet } from "../support/nodelet-command.js";
import { secureAsk, waitSecure } from "../support/secure-ask.js";
import { conditionsOf, IDLE, idOf, manifest, podOf, shell, statusOf, waitForPod } from "../support/static-pods.js";

const SOURCE = "nodelet.dev/config-source";
const STATUS = "nodelet.dev/config-status";
const NAMESPACE = "kube-system";
const NAME = `workers-${process.pid}`;
const EVIL = `evil-${process.pid}`;
const LINK = `/api/v1/namespaces/${NAMESPACE}/configmaps/${NAME}`;
const RBAC = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}`;
const PATIENCE_MS = 90_000;

const ready = (pod: PodView): boolean => conditionsOf(pod)["Ready"] === "True";

describe("the configuration that the cluster assigns", { timeout: 15 * 60_000 }, () => {
  let cluster: ClusterNode;
  let dir: string;
  let container: string | undefined;
  /** The file of --config. */
  let own: Fields;

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "nodelet-dynamic-"));
    const allowed = `${NAMESPACE}/workers-*`;
    const flags = ["--dynamic-config-dir", dir, "--dynamic-config-sources", allowed];
    cluster = await startClusterNode({ secure: true, flags });
    own = JSON.parse(await readFile(cluster.node.kubelet.configFile, "utf8")) as Fields;
    await cluster.node.writeManifest("web", manifest("web", [shell("app", IDLE)]));
    container = idOf(statusOf(await waitForPod(cluster.node, "web", ready, "Ready"), "app"));
  });
  after(async () => {
    const { api } = cluster;
    if (cluster.fixture === undefined) {
      await api.raw("DELETE", `${RBAC}/rolebindings/${NAME}`);
      await api.raw("DELETE", `${RBAC}/roles/${NAME}`);
      await api.raw("DELETE", LINK);
    }
    await cluster.stop();
    await rm(dir, { recursive: true, force: true });
  });

  const assign = (source: string | null): Promise<ApiObject> =>
    cluster.api.patch("nodes", "", NODE_NAME, { metadata: { annotations: { [SOURCE]: source } } });
  const textOf = (fields: Fields): string => JSON.stringify({ ...own, ...fields }, undefined, 2);
  const write = async (fields: Fields | string, labels: Fields = {}): Promise<ApiObject> => {
    const data = { kubelet: typeof fields === "string" ? fields : textOf(fields), other: "x" };
    if ((await cluster.api.find("configmaps", NAMESPACE, NAME)) === undefined)
      return cluster.api.create("configmaps", { metadata: { namespace: NAMESPACE, name: NAME, labels }, data });
    return cluster.api.patch("configmaps", NAMESPACE, NAME, { metadata: { labels }, data });
  };

  interface Condition {
    type: string;
    status: string;
    reason: string;
    message: string;
  }
  const conditionIn = (node: ApiObject | undefined): Condition | undefined => {
    const { conditions = [] } = (node?.["status"] ?? {}) as { conditions?: Condition[] };
    return conditions.find(({ type }) => type === "KubeletConfigOk");
  };
  const condition = async (what: string, holds: (condition: Condition) => boolean): Promise<Condition> => {
    const matches = (node: ApiObject | undefined): boolean => {
      const found = conditionIn(node);
      return found !== undefined && holds(found);
    };
    const options = { what: `KubeletConfigOk ${what}`, timeoutMs: PATIENCE_MS };
    const found = conditionIn(await cluster.api.waitFor("nodes", "", NODE_NAME, matches, options));
    assert.ok(found);
    return found;
  };

  interface Source {
    configMap?: { namespace: string; name: string; kubeletConfigKey: string; uid: string; resourceVersion: string };
  }
  interface Status {
    assigned?: Source;
    active?: Source;
    lastKnownGood?: Source;
    error?: string;
  }
  const statusAnnotation = async (): Promise<Status> => {
    const node = await cluster.api.get("nodes", "", NODE_NAME);
    return JSON.parse(node.metadata.annotations?.[STATUS] ?? "{}") as Status;
  };
  /** The annotation is written beside the condition. */
  const annotated = async (what: string, holds: (status: Status) => boolean): Promise<Status> =>
    waitFor(
      async () => {
        const status = await statusAnnotation();
        return holds(status) ? status : undefined;
      },
      { what: `the annotation to have ${what}`, timeoutMs: PATIENCE_MS },
    );
  const logged = (): Promise<string> => readFile(cluster.node.kubelet.log, "utf8");
  const restarts = async (): Promise<number> => (await logged()).split("restarting in place").length - 1;

  /** Configurations that were taken over without a restart. */
  const takeovers = async (): Promise<number> =>
    (await logged()).split("\n").filter((line) => /event KubeletConfigChanged.*changed without a restart/.test(line))
      .length;

  async function field(name: string): Promise<unknown> {
    await waitSecure(cluster.node);
    const { body } = await secureAsk(cluster.node, "/configz");
    return (JSON.parse(body) as { kubeletconfig: Fields }).kubeletconfig[name];
  }
  async function runsWith(name: string, value: unknown): Promise<void> {
    const lastSeen = async (): Promise<string> => (await logged()).split("\n").slice(-25).join("\n");
    const holds = async (): Promise<boolean> => {
      const found = await field(name).catch(() => undefined);
      return JSON.stringify(found) === JSON.stringify(value);
    };
    await waitFor(holds, { what: `${name} ${String(value)}`, timeoutMs: PATIENCE_MS, lastSeen });
  }
  async function podIsUntouched(): Promise<void> {
    const isKnown = async (): Promise<boolean> =>
      statusOf(podOf(await cluster.node.pods(), "web"), "app")?.ready === true;
    await waitFor(async () => await isKnown().catch(() => false), {
      what: "the pod to be known",
      timeoutMs: PATIENCE_MS,
    });
    const app = statusOf(podOf(await cluster.node.pods(), "web"), "app");
    assert.equal(idOf(app), container);
    assert.equal(app?.restartCount, 0);
  }
  async function allow(): Promise<void> {
    const { fixture, api } = cluster;
    if (fixture !== undefined) {
      fixture.settings.grants.push(
        ({ groups }, { verb, resource, namespace, name }) =>
          groups.includes("system:nodes") &&
          ["get", "list", "watch"].includes(verb) &&
          resource === "configmaps" &&
          namespace === NAMESPACE &&
          name === NAME,
      );
      return;
    }
    const rules = [
      { apiGroups: [""], resources: ["configmaps"], resourceNames: [NAME], verbs: ["get", "list", "watch"] },
    ];
    const metadata = { name: NAME, namespace: NAMESPACE };
    const group = "rbac.authorization.k8s.io";
    await api.raw("POST", `${RBAC}/roles`, { body: { metadata, rules } });
    await api.raw("POST", `${RBAC}/rolebindings`, {
      body: {
        metadata,
        roleRef: { apiGroup: group, kind: "Role", name: NAME },
        subjects: [{ apiGroup: group, kind: "Group", name: "system:nodes" }],
      },
    });
  }

  test("without an assignment the node's own files count, and the Node's condition names them", async () => {
    const found = await condition("True", ({ status }) => status === "True");
    assert.equal(found.message, "using current: local");
    assert.equal(found.reason, "when the config source is nil, the Kubelet uses its local config");
    assert.deepEqual(await statusAnnotation(), {});
  });

  test("an invalid assignment is refused in condition, log and nodelet status", async () => {
    await assign("workers");
    const { message } = await condition("False", ({ status }) => status === "False");
    assert.match(
      message,
      /using current: local; .*annotation nodelet.dev\/config-source of the Node is invalid: "workers"; write "<namespace>\/<name>"/,
    );
    let stdout = "";
    const shown = async (): Promise<boolean> => {
      ({ stdout } = await nodelet(cluster.node, "status"));
      const words = /does not run the assigned configuration.*config-source of the Node is invalid/;
      return words.test(stdout.replaceAll(/\s+/g, " "));
    };
    await waitFor(shown, { what: "nodelet status to say so", timeoutMs: PATIENCE_MS, lastSeen: () => stdout });
    const event = /event NodeConfigError of node .*config-source of the Node is invalid/;
    await waitFor(async () => event.test(await logged()), { what: "the event in the log", timeoutMs: PATIENCE_MS });
  });

  test("a ConfigMap outside --dynamic-config-sources is refused though a pod makes it readable, and own files are followed", async () => {
    const { api, node } = cluster;
    const before = await readFile(node.kubelet.configFile, "utf8");
    await api.create("configmaps", {
      metadata: { namespace: "default", name: EVIL },
      data: { kubelet: textOf({ maxPods: 666 }) },
    });
    const reader = { ...shell("app", IDLE), envFrom: [{ configMapRef: { name: EVIL } }] };
    await api.create("pods", {
      metadata: { namespace: "default", name: EVIL },
      spec: { nodeName: NODE_NAME, terminationGracePeriodSeconds: 0, containers: [reader] },
    });
    const runs = (pod: ApiObject | undefined): boolean =>
      (pod?.["status"] as { phase?: string } | undefined)?.phase === "Running";
    await api.waitFor("pods", "default", EVIL, runs, { what: "the pod that reads it", timeoutMs: PATIENCE_MS });
    await assign(`default/${EVIL}`);
    const refusal = `ConfigMap default/${EVIL} is refused: --dynamic-config-sources of this kubelet allows ${NAMESPACE}/workers-*`;
    const { message } = await condition("False", (found) => found.message.includes("is refused"));
    assert.equal(message, `using current: local; ${refusal}`);
    await writeFile(node.kubelet.configFile, textOf({ maxPods: 109 }));
    await runsWith("maxPods", 109);
    await writeFile(node.kubelet.configFile, before);
    await runsWith("maxPods", 110);
    assert.equal((await condition("False", ({ status }) => status === "False")).message, message);
    await api.delete("pods", "default", EVIL);
    await api.delete("configmaps", "default", EVIL);
    await podIsUntouched();
  });

  test("a ConfigMap that the node may not read: the message names the Role to make", async () => {
    await write({ maxPods: 41 });
    await assign(`${NAMESPACE}/${NAME}`);
    const { message } = await condition("forbidden", (found) => found.message.includes("forbids"));
    assert.match(message, /verbs get, list and watch for this ConfigMap by a Role/);
    const words = /This is the configuration of local files.*forbids the node to read ConfigMap kube-system\/workers/;
    // The server threads of a kubelet that has just started come later than its requests to the API server.
    let seen = "";
    const shown = async (): Promise<boolean> => {
      const { stdout, stderr } = await nodelet(cluster.node, "config");
      seen = stdout + stderr;
      return words.test(stdout);
    };
    await waitFor(shown, { what: "nodelet config to say so", timeoutMs: PATIENCE_MS, lastSeen: () => seen });
    assert.equal(await field("maxPods"), 110);
  });

  test("the assigned ConfigMap takes the place of the file; process id and pods stay", async () => {
    const { pid } = cluster.node.kubelet;
    await allow();
    await runsWith("maxPods", 41);
    assert.equal(cluster.node.kubelet.pid, pid);
    const { status, reason } = await condition(
      "of the ConfigMap",
      ({ message }) => message === `using current: ${LINK}`,
    );
    assert.deepEqual([status, reason], ["True", "passing all checks"]);
    const { assigned, active, error } = await annotated("the ConfigMap", (one) => one.active !== undefined);
    const { metadata } = await cluster.api.get("configmaps", NAMESPACE, NAME);
    assert.deepEqual(active?.configMap, {
      namespace: NAMESPACE,
      name: NAME,
      kubeletConfigKey: "kubelet",
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
    });
    assert.deepEqual(assigned, active);
    assert.equal(error, undefined);
    await podIsUntouched();
  });

  test("the event of the restart reaches the API server, and the metrics name the ConfigMap", async () => {
    const { metadata } = await cluster.api.get("configmaps", NAMESPACE, NAME);
    const sent = async (): Promise<boolean> => {
      const { items } = await cluster.api.list("events", "default", {
        fieldSelector: `involvedObject.name=${NODE_NAME}`,
      });
      return items.some(
        (event) =>
          event["reason"] === "KubeletConfigChanged" &&
          String(event["message"]).startsWith(`Kubelet restarting to use ${LINK}, UID: ${metadata.uid}, `),
      );
    };
    await waitFor(sent, { what: "the event KubeletConfigChanged", timeoutMs: PATIENCE_MS });
    const { body } = await secureAsk(cluster.node, "/metrics");
    const line = (name: string): string => body.split("\n").find((one) => one.startsWith(name)) ?? "";
    assert.match(line("kubelet_node_config_assigned{"), new RegExp(`node_config_source="${LINK}".* 1$`));
    assert.match(line("kubelet_node_config_active{"), new RegExp(`node_config_uid="${metadata.uid}".* 1$`));
    assert.match(line("kubelet_node_config_last_known_good{"), /node_config_source="local".* 1$/);
    assert.match(line("kubelet_node_config_error"), / 0$/);
  });

  test("labels and other keys of the ConfigMap matter not; a change of its text does", async (t) => {
    const before = await restarts();
    const begun = await takeovers();
    const trial = await readFile(join(dir, "store/meta/trial"), "utf8");
    await write({ maxPods: 41 }, { changed: "yes" });
    await cluster.api.patch("configmaps", NAMESPACE, NAME, { data: { other: "y" } });
    // Taken over without a restart, after the changes before it.
    await write({ maxPods: 41, logging: { format: "json", verbosity: 3 } }, { changed: "yes" });
    await runsWith("logging", { ...((await field("logging")) as Fields), verbosity: 3 });
    assert.equal(await restarts(), before);
    // The values are there before the record of the trial and the log's line.
    await waitFor(async () => (await takeovers()) > begun, {
      what: "the log's line of the change",
      timeoutMs: PATIENCE_MS,
    });
    const isNew = async (): Promise<boolean> => (await readFile(join(dir, "store/meta/trial"), "utf8")) !== trial;
    await waitFor(isNew, { what: "the record of the trial", timeoutMs: PATIENCE_MS });
    assert.equal(await takeovers(), begun + 1);
    const changedAt = performance.now();
    await write({ maxPods: 42 });
    await runsWith("maxPods", 42);
    const seconds = ((performance.now() - changedAt) / 1000).toFixed(1);
    t.diagnostic(`from the ConfigMap's change to the value in /configz, with a restart in place: ${seconds} s`);
    assert.equal(await restarts(), before + 1);
    await podIsUntouched();
  });

  test("a bad text is refused with its line and the nearest field; the old one stays", async () => {
    await write(`${textOf({ maxPods: 43 }).slice(0, -2)},\n  "podLogDirs": "/var/log/pods"\n}`);
    const { message } = await condition("False", ({ status }) => status === "False");
    const lines = textOf({ maxPods: 43 }).split("\n").length;
    assert.match(
      message,
      new RegExp(
        `ConfigMap ${NAMESPACE}/${NAME}/kubelet:${lines}:3: podLogDirs: unknown field; did you mean podLogsDir`,
      ),
    );
    assert.match(message, new RegExp(`^using current: ${LINK}; `));
    assert.equal(await field("maxPods"), 42);
    await write({ maxPods: 42 });
    await condition("True again", ({ status }) => status === "True");
  });

  test("a deleted ConfigMap changes nothing but the error; made again with the same text, it is no new trial", async () => {
    const before = await restarts();
    await cluster.api.delete("configmaps", NAMESPACE, NAME);
    const { message } = await condition("False", ({ status }) => status === "False");
    assert.match(message, new RegExp(`ConfigMap ${NAMESPACE}/${NAME} does not exist`));
    assert.equal(await field("maxPods"), 42);
    const { metadata } = await write({ maxPods: 42 });
    await condition("True again", ({ status }) => status === "True");
    const shown = async (): Promise<boolean> => (await statusAnnotation()).active?.configMap?.uid === metadata.uid;
    await waitFor(shown, { what: "the UID of the new ConfigMap", timeoutMs: PATIENCE_MS });
    assert.equal(await restarts(), before);
    await podIsUntouched();
  });

  test("with the API server away, a start uses the checkpoint", async (t) => {
    const { fixture, node } = cluster;
    if (fixture === undefined) {
      t.skip("needs the fixture");
      return;
    }
    await node.kubelet.end("SIGTERM");
    await fixture.stop();
    await node.kubelet.start();
    await node.kubelet.waitHealthy();
    assert.equal(await field("maxPods"), 42);
    await podIsUntouched();
    await fixture.restart();
    await condition("True", ({ status, message }) => status === "True" && message === `using current: ${LINK}`);
  });

  test("one that the kubelet can't start with is left for the last known good one, and not tried again", async () => {
    const { node } = cluster;
    await node.kubelet.end("SIGTERM");
    // As if its ten minutes had passed.
    await writeFile(join(dir, "store/meta/last-known-good"), await readFile(join(dir, "store/meta/assigned"), "utf8"));
    await write({ maxPods: 42, podLogsDir: "/dev/null/pods" });
    await node.kubelet.start();
    const failed = async (): Promise<boolean> => Promise.resolve(node.kubelet.pid === undefined);
    await waitFor(failed, { what: "the failed start", timeoutMs: PATIENCE_MS, lastSeen: logged });
    assert.equal(node.kubelet.exitCode, 1);
    await node.kubelet.start();
    await node.kubelet.waitHealthy();
    const { message } = await condition("False", ({ status }) => status === "False");
    assert.match(message, new RegExp(`^using last-known-good: ${LINK}; .*cannot make directory /dev/null/pods`));
    assert.equal(await field("maxPods"), 42);
    const before = await restarts();
    await assign(JSON.stringify({ configMap: { namespace: NAMESPACE, name: NAME, kubeletConfigKey: "kubelet" } }));
    await write({ maxPods: 42 });
    await condition("True again", ({ status }) => status === "True");
    assert.equal(await restarts(), before);
    await podIsUntouched();
  });

  test("without the assignment the node's own files count again", async () => {
    await assign(null);
    await runsWith("maxPods", 110);
    await condition("local", ({ status, message }) => status === "True" && message === "using current: local");
    await annotated("no source", ({ assigned, active }) => assigned === undefined && active === undefined);
    await podIsUntouched();
  });
});
