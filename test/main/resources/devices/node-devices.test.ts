import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { test, type TestContext } from "node:test";
import { encodeCheckpoint } from "../../../../src/main/resources/devices/checkpoint.js";
import { NodeDevices } from "../../../../src/main/resources/devices/node-devices.js";
import { machineReading } from "../../../../src/main/resources/managers/create-managers.js";
import type { DeviceCounts } from "../../../../src/main/resources/node-resources.js";
import { parseQuantity, value } from "../../../../src/shared/kubernetes/api/quantity.js";
import { podUid, type PodUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { silentLog } from "../../../support/silent.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { container } from "../pods.js";
import { devices, GPU, podOf, wanting, replaceList } from "./kit.js";

async function made(t: TestContext) {
  const rootDir = await mkdtemp(`${tmpdir()}/nodelet-nd-`);
  const running = new Set<PodUid>();
  const counts: DeviceCounts[] = [];
  const registrations: string[] = [];
  const node = new NodeDevices({
    machine: machineReading(),
    rootDir,
    podRuns: (uid) => running.has(uid),
    runningPods: () => running,
    resources: { setDevices: (change) => void counts.push(change) },
    load: async () => {
      if (node.manager === undefined) await (await node.make()).start(() => []);
    },
    onHealth: () => undefined,
    onRegistration: (problem) => void registrations.push(problem),
    registry: new ThreadRegistry("main"),
    clock: new SteppedClock(),
    log: silentLog,
  });
  t.after(async () => {
    await node.stop();
    await node.manager?.stop();
    await rm(rootDir, { recursive: true, force: true });
  });
  return { node, rootDir, running, counts, registrations };
}

/** A pod that was given device a, by an earlier kubelet. */
const GIVEN = await encodeCheckpoint(
  {
    PodDeviceEntries: [
      { PodUID: podUid("1"), ContainerName: "c", ResourceName: GPU, DeviceIDs: { "-1": ["a"] }, AllocResp: "" },
    ],
    RegisteredDevices: { [GPU]: ["a", "b"] },
  },
  { turn: () => Promise.resolve() },
);

test("nothing is loaded for pods without devices", async (t) => {
  const { node } = await made(t);
  assert.equal(node.wanted(podOf("1", container("c", { cpu: "1" }, { cpu: "1", memory: "1Mi" }))), false);
  assert.equal(node.wanted(podOf("1", wanting("c", 0))), false);
  assert.equal(node.wanted(podOf("1", wanting("c", 1))), true);
  const known = new Map([["cpu", parseQuantity("4")]]);
  assert.equal(node.allocatable(podOf("1", wanting("c", 1)), known), known);
  assert.deepEqual(node.health(podUid("1"), "c"), []);
});

test("a pod's devices and their health", async (t) => {
  const { node, rootDir, running, counts } = await made(t);
  await mkdir(`${rootDir}/device-plugins`, { recursive: true });
  await writeFile(`${rootDir}/device-plugins/kubelet_internal_checkpoint`, GIVEN);
  await node.serve();
  assert.deepEqual((await readdir(`${rootDir}/device-plugins`)).sort(), [
    "kubelet.sock",
    "kubelet_internal_checkpoint",
  ]);
  assert.deepEqual(counts.at(-1)?.allocatable, new Map([[GPU, 0]]));
  // The Node object still tells of what another kubelet had.
  const known = new Map([[GPU, parseQuantity("7")]]);
  const may = (uid: string, resource = GPU): bigint =>
    value(node.allocatable(podOf(uid, wanting("c", 1, resource)), known).get(resource) ?? "0");
  assert.equal(may("2"), 0n, "a new pod: the plugin has not registered");
  assert.equal(may("1"), 1n, "a pod with its device");
  assert.equal(may("3", "example.com/lost"), 0n);
  running.add(podUid("3"));
  assert.ok(may("3", "example.com/lost") > 1000n, "it runs: what it has was forgotten, not taken");
  const health = (): unknown => node.health(podUid("1"), "c")[0]?.resources;
  assert.deepEqual(health(), [{ resourceID: "a", health: "Healthy" }]);
  const pool = node.manager?.pool;
  assert.ok(pool !== undefined);
  replaceList(pool, GPU, devices({ a: { healthy: false } }));
  assert.deepEqual(health(), [{ resourceID: "a", health: "Unhealthy" }]);
});

test("a socket that cannot be made is the problem of the health check until a later try succeeds", async (t) => {
  const { node, rootDir, registrations } = await made(t);
  const inTheWay = `${rootDir}/device-plugins/kubelet.sock/x`;
  await mkdir(inTheWay, { recursive: true });
  await assert.rejects(node.serve());
  assert.match(
    registrations.join(),
    /^device registration error: device plugin registration gRPC server failed and no /,
  );
  await rm(inTheWay, { recursive: true });
  await rm(`${rootDir}/device-plugins/kubelet.sock`, { recursive: true });
  await node.serve();
  assert.equal(registrations.at(-1), "");
});
