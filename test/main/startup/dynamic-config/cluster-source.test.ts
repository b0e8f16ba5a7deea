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
