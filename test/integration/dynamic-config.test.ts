// --dynamic-config-dir on a real node. A changed configuration is applied without touching a pod. An invalid one is
// refused, and one that breaks the start is rolled back.
// @headline Configuration and manifests | A configuration that fails is rolled back. | no container restarts
// @promise Configuration and manifests: A changed configuration: same process id, same containers; an invalid one is
//   refused; one that fails to start is rolled back.

import assert from "node:assert/strict";
import { readFile, rename, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { kubeletScript } from "../../tools/install/wrappers.js";
import { startNode, waitFor, type PodView, type TestNode } from "../harness/node.js";
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
type Fields = Record<string, unknown>;

let node: TestNode;
let store: string;
let container: string | undefined;

before(async () => {
  const dir = join(process.env["NODELET_TEST_DIR"] ?? "", "dynamic");
  store = join(dir, "store", "meta");
  // The executable of the packages.
  const entry = join(process.env["NODELET_TEST_DIR"] ?? "", "kubelet");
  const home = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
  await writeFile(entry, kubeletScript(process.execPath, home), { mode: 0o755 });
  node = await startNode({ entry, secure: true, flags: ["--dynamic-config-dir", dir] });
  await node.writeManifest("web", manifest("web", [shell("app", IDLE)]));
  const web = await waitForPod(node, "web", ready, "Ready");
  container = idOf(statusOf(web, "app"));
});
after(() => node.stop());

/** Changes the config file in one step, as kubeadm does. */
async function edit(change: (fields: Fields) => void): Promise<void> {
  const { configFile } = node.kubelet;
  const fields = JSON.parse(await readFile(configFile, "utf8")) as Fields;
  change(fields);
  await writeFile(`${configFile}.new`, JSON.stringify(fields, undefined, 2));
  await rename(`${configFile}.new`, configFile);
}

/** argv[0] of the kubelet's process, by which programs find it. */
async function programName(): Promise<string> {
  return basename((await readFile(`/proc/${node.kubelet.pid}/cmdline`, "utf8")).split("\0")[0] ?? "");
}

/** As the running kubelet says. */
async function field(name: string): Promise<unknown> {
  await waitSecure(node);
  const { body } = await secureAsk(node, "/configz");
  return (JSON.parse(body) as { kubeletconfig: Fields }).kubeletconfig[name];
}
const maxPods = (): Promise<unknown> => field("maxPods");

const logged = async (): Promise<string> => await readFile(node.kubelet.log, "utf8");

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const lastSeen = async (): Promise<string> => (await logged()).split("\n").slice(-25).join("\n");
  await waitFor(holds, { what, timeoutMs: PATIENCE_MS, lastSeen });
}

async function podIsUntouched(): Promise<void> {
  await until("the pod to be there", async () => statusOf(podOf(await node.pods(), "web"), "app")?.ready === true);
  const app = statusOf(podOf(await node.pods(), "web"), "app");
  assert.equal(idOf(app), container);
  assert.equal(app?.restartCount, 0);
}

async function statusFile(): Promise<{
  assigned?: Pointer;
  lastKnownGood?: Pointer;
  active?: Pointer;
  error?: string;
}> {
  return JSON.parse(await readFile(join(store, "status.json"), "utf8")) as object;
}
interface Pointer {
  digest: string;
}

test("a change restarts the kubelet in place: same process, same pods, new values", { timeout: 300_000 }, async () => {
  const { pid } = node.kubelet;
  assert.equal(await programName(), "kubelet");
  await edit((fields) => (fields["maxPods"] = 42));
  await until("the new value", async () => (await maxPods()) === 42);
  assert.equal(node.kubelet.pid, pid);
  assert.equal(await programName(), "kubelet");
  assert.match(await logged(), /restarting in place/);
  await podIsUntouched();
});

test("the verbosity is taken over without a restart", { timeout: 300_000 }, async () => {
  const restarts = async (): Promise<number> => (await logged()).split("restarting in place").length;
  const before = await restarts();
  const { digest } = (await statusFile()).active ?? {};
  await edit((fields) => (fields["logging"] = { format: "json", verbosity: 5 }));
  await until("the other configuration to run", async () => (await statusFile()).active?.digest !== digest);
  assert.equal(await restarts(), before);
  await until("/configz to show it", async () => JSON.stringify(await field("logging")).includes('"verbosity":5'));
});

test("a bad change is refused with every problem, and the old one stays", { timeout: 300_000 }, async () => {
  await edit((fields) => {
    fields["maxPods"] = -5;
    fields["podLogDirs"] = "/var/log/pods";
  });
  await until("the refusal", async () => (await statusFile()).error !== undefined);
  const { error = "" } = await statusFile();
  assert.match(error, /maxPods: -5 .*podLogDirs: unknown field; did you mean podLogsDir/);
  assert.equal(await maxPods(), 42);
  await edit((fields) => {
    fields["maxPods"] = 42;
    delete fields["podLogDirs"];
  });
  await until("the error to be over", async () => (await statusFile()).error === undefined);
});

test("one that the kubelet can't start with is left for the last known good one", { timeout: 300_000 }, async () => {
  await node.kubelet.end("SIGTERM");
  // As if its ten minutes had passed.
  const assigned = JSON.parse(await readFile(join(store, "assigned"), "utf8")) as Pointer;
  await writeFile(join(store, "last-known-good"), JSON.stringify(assigned));
  await edit((fields) => (fields["podLogsDir"] = "/dev/null/pods"));
  await node.kubelet.start();
  await until("the failed start", () => Promise.resolve(node.kubelet.pid === undefined));
  assert.equal(node.kubelet.exitCode, 1);
  await node.kubelet.start();
  await node.kubelet.waitHealthy();
  assert.equal(await maxPods(), 42);
  const { active, error = "" } = await statusFile();
  assert.equal(active?.digest, assigned.digest);
  assert.match(error, /cannot make directory \/dev\/null\/pods/);
  await podIsUntouched();
});
