// flexVolumes of static pods on real containerd: the driver is a program of this test, below the kubelet's
// volumePluginDir.
// @promise Volumes: flexVolume: upstream's paths, options and order of calls; a driver that is missing, hangs or prints
//   garbage or megabytes stops only its own pods; the next kubelet unmounts.
// @with test/main/volumes/flex, test/cluster/in-tree-volumes.test.ts

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Volume } from "../../src/shared/kubernetes/api/volume.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { flexDriver, type FlexTestDriver } from "../support/flex-driver.js";
import { mountsBelow } from "../support/mounts.js";
import { IDLE, manifest, PATIENCE_MS, report, reporter, shell, statusOf, waitForPod } from "../support/static-pods.js";

let node: TestNode;
let drivers: string;
let driver: FlexTestDriver;

const volumeMounts = [{ name: "data", mountPath: "/data" }];
const flex = (name: string): Volume[] => [
  { name: "data", flexVolume: { driver: `test/${name}`, options: { color: "red" } } },
];

before(async () => {
  drivers = await mkdtemp(join(tmpdir(), "nodelet-drivers-"));
  node = await startNode({ config: { volumePluginDir: drivers } });
  driver = await flexDriver(drivers, "test/disk", join(node.kubelet.dir, "driver"));
});
after(async () => {
  await node.stop();
  await rm(drivers, { recursive: true });
});

const commands = async (): Promise<string[]> => (await driver.calls()).map(([command = ""]) => command);
const mounted = (): string[] => mountsBelow(node.kubelet.rootDir).filter((place) => place.includes("~"));
const ofDriver = (name: string): string[] => mounted().filter((place) => place.includes(`/test~${name}/`));
const logHas = (text: string): Promise<boolean> => readFile(node.kubelet.log, "utf8").then((log) => log.includes(text));

test("a pod reads and writes its flexVolume; the kubelet is killed, and the next one unmounts the volume", async () => {
  const spec = { volumes: flex("disk") };
  const script = `cat /data/options; echo kept > /data/file; ${IDLE}`;
  await node.writeManifest("flex", manifest("flex", [shell("app", script, { volumeMounts })], { spec }));
  const pod = await waitForPod(node, "flex", (view) => statusOf(view, "app")?.state.running !== undefined, "running");
  const path = join(node.kubelet.rootDir, "pods", pod.metadata.uid, "volumes/test~disk/data");
  const file = (name: string): Promise<string> => readFile(join(path, name), "utf8").catch(() => "");
  await waitFor(async () => (await file("file")) === "kept\n", {
    what: "the container's file",
    timeoutMs: PATIENCE_MS,
  });
  const options = JSON.parse(await file("options")) as Record<string, string>;
  assert.deepEqual(
    [options["color"], options["kubernetes.io/pod.uid"], options["kubernetes.io/readwrite"]],
    ["red", pod.metadata.uid, "rw"],
  );
  await node.kill9();
  await node.restart();
  await waitForPod(node, "flex", (view) => statusOf(view, "app")?.state.running !== undefined, "running still");
  assert.equal((await commands()).filter((command) => command === "mount").length, 1);
  const figure = 'volume_manager_total_volumes{plugin_name="flexvolume-test/disk",state="actual_state_of_world"} 1';
  let page = "";
  const isShown = async (): Promise<boolean> =>
    (page = await (await fetch(`${node.kubelet.url}/metrics`)).text()).includes(figure);
  const lines = (): string =>
    page
      .split("\n")
      .filter((line) => line.startsWith("volume_"))
      .join("\n");
  await waitFor(isShown, { what: figure, timeoutMs: PATIENCE_MS, lastSeen: () => Promise.resolve(lines()) });
  await node.kill9();
  await node.removeManifest("flex");
  await node.restart();
  await waitFor(() => Promise.resolve(ofDriver("disk").length === 0), { what: "the unmount", timeoutMs: 60_000 });
  await waitFor(async () => (await commands()).includes("unmount"), { what: "the driver's unmount" });
});

test("a pod waits for a driver that is installed while the kubelet runs", async () => {
  const spec = { volumes: flex("late") };
  const app = reporter("app", "cat /data/options", { volumeMounts });
  await node.writeManifest("late", manifest("late", [app], { spec }));
  const where = `put its program at ${drivers}/test~late/late`;
  await waitFor(() => logHas(where), { what: "the event with the driver's place", timeoutMs: PATIENCE_MS });
  await flexDriver(drivers, "test/late", join(node.kubelet.dir, "late"));
  const [line = ""] = await report(node, "late", "app");
  assert.match(line, /"color":"red"/);
});

test("drivers that hang, print garbage or megabytes: an event each; other pods start, and their own pods can go", async () => {
  const bad: [string, string, RegExp | string][] = [
    ["hangs", "sleep 100000", ""],
    ["garbage", "echo garbage", "the driver's output for mount is not JSON"],
    ["flood", "yes", "printed more than 65536 bytes, killed"],
  ];
  const scripts = await Promise.all(
    bad.map(async ([name, script]) => {
      const made = await flexDriver(drivers, `test/${name}`, join(node.kubelet.dir, name));
      await made.answer("mount", script);
      const app = shell("app", IDLE, { volumeMounts });
      await node.writeManifest(name, manifest(name, [app], { spec: { volumes: flex(name) } }));
      return made;
    }),
  );
  for (const [, , text] of bad) {
    await waitFor(() => logHas(String(text)), { what: `the event: ${String(text)}`, timeoutMs: PATIENCE_MS });
  }
  await waitFor(async () => (await scripts[0]?.calls())?.some(([command]) => command === "mount") === true, {
    what: "the driver that hangs to be called",
    timeoutMs: PATIENCE_MS,
  });
  const app = reporter("app", "cat /data/options", { volumeMounts });
  await node.writeManifest("beside", manifest("beside", [app], { spec: { volumes: flex("disk") } }));
  assert.equal((await report(node, "beside", "app")).length, 1);
  for (const [name] of bad) await node.removeManifest(name);
  await node.waitFor((pods) => !pods.some(({ metadata }) => bad.some(([name]) => metadata.name.startsWith(name))), {
    what: "the pods of the bad drivers to be removed",
    timeoutMs: 60_000,
  });
});
