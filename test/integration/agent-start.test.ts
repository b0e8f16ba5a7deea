// Start and end of a kubelet beside others: one lock file for two, systemd's notify socket, run-once, /configz.
// @promise Configuration and manifests: /configz shows every value, secrets as upstream's does; /configz?origin=1,
//   --print-config, page, `nodelet config` and its --diff mask secrets.
// @with test/main/command/config/effective.test.ts, test/cli/commands/others.test.ts
// @promise Configuration and manifests: One kubelet per lock file; it exits on contention if configured; pods
//   continue.
// @promise Configuration and manifests: READY, STATUS, WATCHDOG, STOPPING; the log names a late thread, and the
//   watchdog is not fed.
// @with test/main/process/systemd/watchdog.test.ts

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { request as requestSecure } from "node:https";
import { join } from "node:path";
import { afterEach, describe, test } from "node:test";
import { promisify } from "node:util";
import { prepareKubelet, type KubeletProcess } from "../../tools/standalone/kubelet-process.js";
import { PATIENCE } from "../../tools/standalone/wait.js";
import { RUNTIME_NAME, startNode, waitFor, type NodeOptions, type PodView, type TestNode } from "../harness/node.js";
import { DatagramReceiver } from "../support/datagram-receiver.js";
import { freePort } from "../support/free-port.js";
import { secureAsk, waitSecure } from "../support/secure-ask.js";
import {
  conditionsOf,
  IDLE,
  idOf,
  manifest,
  PATIENCE_MS,
  podOf,
  shell,
  statusOf,
  waitForPod,
} from "../support/static-pods.js";

const ready = (pod: PodView): boolean => conditionsOf(pod)["Ready"] === "True";
let node: TestNode | undefined;
afterEach(async () => {
  await node?.stop();
  node = undefined;
});

async function start(options: NodeOptions): Promise<TestNode> {
  node = await startNode(options);
  return node;
}

async function ended(kubelet: KubeletProcess, what: string): Promise<number | undefined> {
  await waitFor(() => kubelet.pid === undefined, { what, timeoutMs: PATIENCE_MS, lastSeen: () => logOf(kubelet) });
  return kubelet.exitCode;
}

function logOf(kubelet: KubeletProcess): Promise<string> {
  return readFile(kubelet.log, "utf8");
}

test("settings and a manifest that upstream takes start, with a warning for each mistake", async () => {
  const { kubelet } = await start({
    config: { containerLogMaxSize: "0", noSuchField: 1 },
    flags: ["--node-ip=x,", "--node-labels=spot,zone=a"],
  });
  const running = node;
  assert.ok(running !== undefined);
  const pod = manifest("odd", [
    shell("app", IDLE, { resources: { requests: { cpu: "CPU" } }, terminationMessagePath: "" }),
  ]);
  // A number, and a merge key below what it replaces.
  const text = JSON.stringify(pod)
    .replace('"CPU"', "0.05")
    .replace(/^\{/, "---\n# JSON that is none\n{<<: {kind: Pod}, ");
  await running.writeManifest("odd", `${text}\n--- ]\n`);
  const found = await waitForPod(running, "odd", ready, "Ready");
  assert.deepEqual(found.spec.containers[0]?.resources?.requests, { cpu: "50m" });
  const log = await logOf(kubelet);
  for (const warning of [
    /noSuchField: unknown field/,
    /is not an IP address; it is ignored/,
    /containerLogMaxSize: /,
  ]) {
    assert.match(log, warning);
  }
});

describe("one lock file", () => {
  test("a second kubelet waits for it, the first one makes way, the pods live on", async () => {
    const lock = join(process.env["NODELET_TEST_DIR"] ?? "", "lock");
    const first = await start({ flags: ["--lock-file", lock, "--exit-on-lock-contention"] });
    await first.writeManifest("web", manifest("web", [shell("app", IDLE)]));
    const before = await waitForPod(first, "web", ready, "Ready");
    // The name that ps -C, pidof and systemctl status show.
    assert.equal(await readFile(`/proc/${first.kubelet.pid ?? 0}/comm`, "utf8"), "kubelet\n");
    const second = await prepareKubelet({
      dir: first.kubelet.dir,
      endpoint: first.endpoint,
      cgroupRoot: process.env["NODELET_CGROUP_ROOT"] ?? "",
      readOnlyPort: await freePort(),
      healthzPort: await freePort(),
      nodeName: "testnode",
      flags: ["--lock-file", lock],
    });
    try {
      await second.start();
      assert.equal(await ended(first.kubelet, "the first agent to make way"), 0);
      assert.match(await logOf(first.kubelet), /exiting for another process.*opened/);
      await second.waitHealthy();
      await waitFor(async () => statusOf(podOf(await second.pods(), "web"), "app")?.ready === true, {
        what: "the second kubelet to have adopted the pod",
        timeoutMs: PATIENCE_MS,
      });
      const now = podOf(await second.pods(), "web");
      assert.equal(idOf(statusOf(now, "app")), idOf(statusOf(before, "app")));
      // Without --exit-on-lock-contention others may look.
      await (await open(lock)).close();
      assert.notEqual(second.pid, undefined);
    } finally {
      await second.end("SIGKILL");
    }
  });

  test("a third process that opens the lock file ends a kubelet with --exit-on-lock-contention", async () => {
    const lock = join(process.env["NODELET_TEST_DIR"] ?? "", "lock-3");
    const { kubelet } = await start({ flags: ["--lock-file", lock, "--exit-on-lock-contention"] });
    await (await open(lock)).close();
    assert.equal(await ended(kubelet, "the agent to make way"), 0);
  });
});

describe("systemd", () => {
  for (const kind of ["path", "abstract"] as const) {
    test(
      `receives READY, WATCHDOG, STATUS and STOPPING: ${kind} socket`,
      { timeout: 2 * PATIENCE_MS * PATIENCE },
      async () => {
        const address =
          kind === "path" ? join(process.env["NODELET_TEST_DIR"] ?? "", "notify") : `@nodelet-test-${process.pid}`;
        using systemd = new DatagramReceiver(address).listen();
        const { kubelet, writeManifest } = bound(
          await start({ env: { NOTIFY_SOCKET: address, WATCHDOG_USEC: "2000000" } }),
        );
        const [first = ""] = await systemd.until((heard) => heard.length > 0);
        assert.match(first, /^READY=1\nSTATUS=\d+ pods, /);
        await writeManifest("web", manifest("web", [shell("app", IDLE)]));
        const status = new RegExp(`^STATUS=1 pod, ${RUNTIME_NAME} \\S+ is reachable$`);
        await systemd.until((heard) => heard.some((line) => status.test(line)));
        await systemd.until((heard) => heard.filter((line) => line === "WATCHDOG=1").length >= 3);
        await kubelet.end("SIGTERM");
        await systemd.until((heard) => heard.at(-1) === "STOPPING=1");
      },
    );
  }
});

/** The node's methods, to be taken apart. */
function bound(of: TestNode) {
  return { kubelet: of.kubelet, writeManifest: (name: string, pod: unknown) => of.writeManifest(name, pod) };
}

describe("requests", () => {
  /** The path goes out as it is: a URL would lose its fragment. */
  const statusOfPath = async (url: string, path: string, host = "localhost"): Promise<number | undefined> => {
    const { hostname, port, protocol } = new URL(url);
    const send = protocol === "https:" ? requestSecure : request;
    const sent = send({ host: hostname, port, path, headers: { host }, agent: false, rejectUnauthorized: false }).end();
    return ((await once(sent, "response")) as [IncomingMessage])[0].resume().statusCode;
  };

  test("get no pods from the read-only port with --read-only-pods=false, and nothing under another machine's name", async () => {
    const { kubelet, writeManifest } = bound(await start({ readOnlyPods: false }));
    await writeManifest("web", manifest("web", [shell("app", IDLE)]));
    // On the admin socket.
    await waitFor(async () => (await kubelet.pods()).length === 1, { what: "the pod", timeoutMs: PATIENCE_MS });
    const paths = ["/pods", "/debug/pods/default/web-testnode/timeline", "/metrics", "/stats/summary", "/healthz"];
    const statuses = await Promise.all(paths.map((path) => statusOfPath(kubelet.url, path)));
    assert.deepEqual(statuses, [405, 405, 200, 200, 200]);
    assert.equal(await statusOfPath(kubelet.url, "/metrics", "evil.example"), 421);
    assert.equal(await statusOfPath(kubelet.healthzUrl, "/healthz", "evil.example"), 421);
    assert.equal(await statusOfPath(kubelet.url, "/metrics#"), 400);
  });

  test("reach the manifest API under no other spelling of its path", async () => {
    const node = await start({ secure: true, flags: ["--manifest-api"] });
    await waitSecure(node);
    const { secureUrl } = node.kubelet;
    for (const path of ["/manifests", "/%6danifests", "/manifests/", "/manifests/default/web"])
      assert.equal(await statusOfPath(secureUrl, path), 401, path);
    for (const path of ["/manifests#", "*manifests", "/manifests?#", "*manifests/default/web"])
      assert.equal(await statusOfPath(secureUrl, path), 400, path);
    assert.equal(await statusOfPath(secureUrl, "/MANIFESTS"), 404);
  });
});

describe("--runonce", () => {
  test("starts the sources' pods, reports the result, and leaves them running", async () => {
    const once = await start({ start: false, flags: ["--runonce"] });
    await once.writeManifest("job", manifest("job", [shell("app", "exit 0")], { spec: { restartPolicy: "Never" } }));
    await once.writeManifest("web", manifest("web", [shell("app", IDLE)]));
    await once.kubelet.start();
    assert.equal(await ended(once.kubelet, "the agent to be done"), 0);
    const said = await logOf(once.kubelet);
    assert.match(said, /^default\/job-testnode: (Running|Succeeded)$/m);
    assert.match(said, /^default\/web-testnode: Running$/m);
  });

  test("a pod that fails makes it exit with 1", async () => {
    const once = await start({ start: false, flags: ["--runonce"] });
    const broken = { ...shell("app", ""), command: ["/nope"] };
    await once.writeManifest("bad", manifest("bad", [broken], { spec: { restartPolicy: "Never" } }));
    await once.kubelet.start();
    assert.equal(await ended(once.kubelet, "the agent to be done"), 1);
    assert.match(await logOf(once.kubelet), /^default\/bad-testnode: Failed/m);
  });
});

test("/configz shows the effective configuration with secrets; with the origin of each value secrets are masked", async () => {
  const node = await start({
    secure: true,
    flags: ["--max-pods=17"],
    config: { staticPodURLHeader: { Authorization: ["secret-token"] } },
  });
  await waitSecure(node);
  const ask = async (query: string): Promise<Configz> =>
    JSON.parse((await secureAsk(node, `/configz${query}`)).body) as Configz;
  const { kubeletconfig, origins } = await ask("");
  assert.equal(kubeletconfig["kind"], "KubeletConfiguration");
  assert.equal(kubeletconfig["maxPods"], 17);
  assert.equal(kubeletconfig["syncFrequency"], "1m0s");
  assert.deepEqual(kubeletconfig["staticPodURLHeader"], { Authorization: ["secret-token"] });
  assert.equal(origins, undefined);
  const whole = await ask("?origin=1");
  assert.deepEqual(whole.origins?.["maxPods"], { kind: "flag", flag: "max-pods" });
  assert.deepEqual(whole.origins["syncFrequency"], { kind: "default" });
  assert.equal(whole.origins["healthzPort"]?.kind, "file");
  assert.doesNotMatch(JSON.stringify(whole), /secret-token/);
});

test("/flagz shows the headers of --manifest-url to clients that may read /configz; the log masks them", async () => {
  const node = await start({ secure: true, flags: ["--manifest-url-header=Authorization:secret-token", "--v=1"] });
  await waitSecure(node);
  assert.match((await secureAsk(node, "/flagz")).body, /^manifest-url-header=Authorization:secret-token$/m);
  const log = await logOf(node.kubelet);
  assert.match(log, /--manifest-url-header=\S*<masked>/);
  assert.doesNotMatch(log, /secret-token/);
});

interface Configz {
  kubeletconfig: Record<string, unknown>;
  origins?: Record<string, { kind: string }>;
}

test("iptables and ip6tables have the kubelet's chains", async () => {
  const iptables = async (program: string, ...args: string[]): Promise<string> =>
    (await promisify(execFile)(program, ["-w", "5", ...args])).stdout;
  const has = async (table: string, program = "iptables"): Promise<boolean> => {
    const rules = (await iptables(program, "-t", table, "-S")).split("\n");
    const chains = ["KUBE-KUBELET-CANARY", ...(table === "mangle" ? ["KUBE-IPTABLES-HINT"] : [])];
    const isFirewall = table === "filter" && program === "iptables";
    const firewall = isFirewall ? ["-A INPUT -j KUBE-FIREWALL", "-A OUTPUT -j KUBE-FIREWALL"] : [];
    const dropped = rules.some((rule) => rule.startsWith("-A KUBE-FIREWALL ") && rule.endsWith(" -j DROP"));
    return (
      [...chains.map((chain) => `-N ${chain}`), ...firewall].every((rule) => rules.includes(rule)) &&
      dropped === isFirewall
    );
  };
  const all = async (): Promise<boolean> =>
    (await has("mangle")) && (await has("nat")) && (await has("filter")) && (await has("mangle", "ip6tables"));
  await start({ config: { makeIPTablesUtilChains: true } });
  await waitFor(all, { what: "the chains", timeoutMs: PATIENCE_MS });
});
