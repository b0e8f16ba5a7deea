// The ConfigMap as a source: what a start reads before the API server was heard, and what a running kubelet follows.

import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ClusterNode, reference } from "./cluster-kit.js";

test("before the API server was heard, the assignment of the previous process counts; until there is one, the own files", async (t) => {
  const node = await ClusterNode.make(t, "own 1");
  assert.equal((await node.start()).files?.config?.text, "own 1");
  node.assign("map 1");
  const second = await node.restart();
  assert.deepEqual(second.files?.config, { path: "ConfigMap kube-system/workers/kubelet", text: "map 1" });
  assert.deepEqual(second.files.configMap, reference("1"));
  node.silence();
  assert.equal((await node.restart()).files?.config?.text, "map 1");
  assert.deepEqual(node.dynamic.nodeReport().assigned, reference("1"));
});

test("drop-ins of the node stay, and a change of them is a change of the configuration", async (t) => {
  const node = await ClusterNode.make(t, "own 1");
  node.assign("map 1");
  await node.start();
  node.dropIns.push({ path: "/etc/kubelet.d/10.conf", text: "ten" });
  node.silence();
  const { files, meta } = await node.restart();
  assert.deepEqual([files?.config?.text, files?.dropIns.map(({ text }) => text)], ["map 1", ["ten"]]);
  assert.equal(meta.get("trial")?.starts, 1);
});

test("an edit of the file of --config does nothing while a ConfigMap is assigned", async (t) => {
  const node = await ClusterNode.make(t, "own 1");
  node.assign("map 1");
  const { active } = await node.start();
  node.own = "own 2";
  assert.equal((await node.restart()).active?.digest, active?.digest);
});

test("an unreadable source leaves the configuration as it is, with the error", async (t) => {
  const node = await ClusterNode.make(t, "own 1");
  node.assign("map 1");
  await node.start();
  node.fail("ConfigMap kube-system/workers does not exist");
  const { files } = await node.restart();
  assert.equal(files?.config?.text, "map 1");
  assert.match(node.dynamic.nodeReport().error ?? "", /does not exist/);
});

test("a version that the API server no longer has comes from its checkpoint", async (t) => {
  const node = await ClusterNode.make(t, "own 1");
  node.assign("map 1", "1");
  await node.start();
  await node.prove();
  node.assign("map 2", "2");
  assert.equal((await node.restart()).files?.config?.text, "map 2");
  node.fail("ConfigMap kube-system/workers has resourceVersion 2, and the Node assigns 1", { resourceVersion: "1" });
  const back = await node.restart();
  assert.equal(back.files?.config?.text, "map 1");
  assert.equal(back.nodeReport().error, undefined);
  node.fail("gone", { resourceVersion: "1", uid: "another" });
  assert.match((await node.restart()).nodeReport().error ?? "", /gone/);
});

test("a lost checkpoint of the assigned configuration: the last known good one, until the API server was heard", async (t) => {
  const node = await ClusterNode.make(t, "own 1");
  await node.start();
  await node.prove();
  node.assign("map 1");
  const { active } = await node.restart();
  node.silence();
  await node.end();
  await rm(join(node.directory, "store", "checkpoints", active?.digest ?? ""), { recursive: true });
  const { files } = await node.start();
  assert.equal(files?.config?.text, "own 1");
  assert.match(node.dynamic.nodeReport().error ?? "", /checkpoint is missing/);
});

test("a crashing first ConfigMap gives way to the node's own files, on trial, and is not tried again until it changes", async (t) => {
  const node = await ClusterNode.make(t, "own 1");
  await node.start();
  node.assign("crashing 1");
  await node.restart();
  await node.dynamic.startFailed("crash");
  const back = await node.restart();
  assert.equal(back.files?.config?.text, "own 1");
  assert.equal(back.meta.get("trial")?.digest, back.active?.digest);
  assert.match(back.nodeReport().error ?? "", /failed: crash; back to the node's own files/);
  assert.equal((await node.restart()).files?.config?.text, "own 1");
  node.assign("map 2");
  assert.equal((await node.restart()).files?.config?.text, "map 2");
});

test("the same text at another version is shown as that version, and is not on trial again", async (t) => {
  const node = await ClusterNode.make(t, "own 1");
  node.assign("map 1", "1");
  await node.start();
  await node.prove();
  node.assign("map 1", "5");
  const { meta } = await node.restart();
  assert.equal(meta.get("trial"), undefined);
  assert.deepEqual(node.dynamic.nodeReport().assigned, reference("5"));
  assert.deepEqual(node.dynamic.nodeReport().active, reference("5"));
});

const REFUSED = "ConfigMap dev/evil is refused: --dynamic-config-sources of this kubelet allows kube-system/workers";

test("a refused or unusable assignment is an error, and changes of the node's own files are still followed", async (t) => {
  const say: [name: string, apply: (node: ClusterNode) => void, error: RegExp][] = [
    ["not in the list", (node) => node.refuse(REFUSED), /--dynamic-config-sources/],
    ["a bad value", (node) => node.refuse("annotation … of the Node is invalid"), /invalid/],
    ["missing", (node) => node.fail("ConfigMap kube-system/workers does not exist"), /does not exist/],
    ["forbidden", (node) => node.fail("the API server forbids the node to read it"), /forbids/],
  ];
  for (const [name, apply, error] of say) {
    const node = await ClusterNode.make(t, "own 1");
    await node.start();
    apply(node);
    node.own = "own 2";
    const { files } = await node.restart();
    assert.equal(files?.config?.text, "own 2", name);
    assert.match(node.dynamic.nodeReport().error ?? "", error, name);
  }
});

test("a refused assignment leaves the assignment before it in force, with changes of its drop-ins", async (t) => {
  const node = await ClusterNode.make(t, "own 1");
  node.assign("map 1");
  await node.start();
  node.refuse(REFUSED);
  node.dropIns.push({ path: "/etc/kubelet.d/10.conf", text: "ten" });
  const { files } = await node.restart();
  assert.deepEqual([files?.config?.text, files?.dropIns.map(({ text }) => text)], ["map 1", ["ten"]]);
  assert.equal(node.dynamic.nodeReport().error, REFUSED);
});

test("a ConfigMap that is not in the list never becomes the configuration, whatever the thread sends", async (t) => {
  const node = await ClusterNode.make(t, "own 1");
  node.assign("evil", "1", { namespace: "dev", name: "evil" });
  assert.equal((await node.start()).files?.config?.text, "own 1");
  assert.equal(node.dynamic.nodeReport().error, REFUSED);
});

test("a shorter list takes effect at the next start, also for checkpoints: assigned, current and last known good", async (t) => {
  const node = await ClusterNode.make(t, "own 1");
  node.assign("map 1");
  await node.start();
  await node.prove();
  node.allowed = ["kube-system/nodelet-config"];
  node.silence();
  const { files } = await node.restart();
  assert.equal(files?.config?.text, "own 1");
  assert.match(
    node.dynamic.nodeReport().error ?? "",
    /ConfigMap kube-system\/workers is refused: --dynamic-config-sources/,
  );
  node.own = undefined;
  node.assign("map 1");
  assert.equal((await node.restart()).files?.config?.text, "own 1", "the checkpoint of the own files");
});
