// Starts of a kubelet, one after the other, over one store on disk.

import assert from "node:assert/strict";
import { readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { OperatorError } from "../../../../src/shared/base/errors/operator-error.js";
import { configOf, digest, Node, textOfActive } from "./kit.js";

test("first start: the files are assigned, checkpointed and on trial", async (t) => {
  const node = await Node.make(t, "one");
  const dynamic = await node.start();
  const one = await digest("one");
  assert.equal(textOfActive(dynamic), "one");
  assert.deepEqual(await readdir(node.path("checkpoints")), [one]);
  assert.equal(dynamic.meta.get("trial")?.starts, 1);
  assert.equal(dynamic.meta.get("last-known-good"), undefined);
  assert.deepEqual(node.events, []);
  await dynamic.flush();
  const status = JSON.parse(await readFile(node.path("meta", "status.json"), "utf8")) as Record<string, unknown>;
  const reference = { digest: one, since: "1970-01-01T00:00:00.000Z" };
  assert.deepEqual(status, { version: 1, assigned: reference, active: reference });
});

test("a configuration that crashes three starts is left at the fourth and stays refused until it is changed", async (t) => {
  const node = await Node.make(t, "good");
  await node.startAndProve();
  node.source.text = "crashing";
  for (let start = 1; start <= 3; start++) assert.equal(textOfActive(await node.start()), "crashing", `start ${start}`);
  const fourth = await node.start();
  assert.equal(textOfActive(fourth), "good");
  assert.equal(node.events.length, 1);
  assert.deepEqual([node.events[0]?.type, node.events[0]?.reason], ["Warning", "NodeConfigError"]);
  assert.match(node.events[0]?.message ?? "", /was started 3 times and never passed its trial; back to/);
  const status = fourth.status();
  assert.equal(status.assigned?.digest, await digest("crashing"));
  assert.equal(status.active?.digest, await digest("good"));
  assert.equal(status.lastKnownGood?.digest, await digest("good"));
  assert.match(status.error ?? "", /back to the last known good one/);
  const fifth = await node.start();
  assert.equal(textOfActive(fifth), "good");
  assert.match(fifth.status().error ?? "", /is refused since .*change it/);
  node.source.text = "crashing, repaired";
  const sixth = await node.start();
  assert.equal(textOfActive(sixth), "crashing, repaired");
  assert.equal(sixth.status().error, undefined);
});

test("a start that failed under a configuration on trial: the next start leaves it", async (t) => {
  const node = await Node.make(t, "good");
  await node.startAndProve();
  node.source.text = "failing";
  await (await node.start()).startFailed("port 10250 is taken");
  const next = await node.start();
  assert.equal(textOfActive(next), "good");
  assert.match(next.status().error ?? "", /failed: port 10250 is taken/);
});

test("a failed start under the last known good one is not its fault", async (t) => {
  const node = await Node.make(t, "good");
  await node.startAndProve();
  for (let i = 0; i < 5; i++) {
    const dynamic = await node.start();
    assert.equal(textOfActive(dynamic), "good");
    await dynamic.startFailed("disk gone");
  }
  assert.deepEqual((await node.start()).meta.bad, []);
});

test("ends in order while healthy do not count against a trial", async (t) => {
  const node = await Node.make(t, "good");
  await node.startAndProve();
  node.source.text = "new";
  for (let i = 0; i < 8; i++) {
    const dynamic = await node.start();
    assert.equal(textOfActive(dynamic), "new");
    await dynamic.endedInOrder();
  }
});

test("an invalid or unreadable configuration while the kubelet was down: the old one runs", async (t) => {
  const node = await Node.make(t, "good");
  await node.startAndProve();
  for (const [text, error] of [
    ["invalid: x", /is not valid: \/etc\/kubernetes\/kubelet.yaml:1:1: invalid: x/],
    [undefined, /cannot be read: it does not exist/],
  ] as const) {
    node.source.text = text;
    const dynamic = await node.start();
    assert.equal(textOfActive(dynamic), "good");
    assert.match(dynamic.status().error ?? "", error);
    assert.equal(dynamic.status().assigned?.digest, await digest("good"));
  }
  assert.deepEqual((await node.start()).meta.bad, []);
});

test("assigned but never run, then an invalid one: the last running configuration continues", async (t) => {
  const node = await Node.make(t, "good");
  await node.startAndProve();
  node.source.text = "on trial";
  const dynamic = await node.start();
  const skipped = await digest("skipped");
  await dynamic.checkpoints.save(skipped, configOf("skipped"), "test");
  await dynamic.meta.point("assigned", skipped);
  node.source.text = "invalid";
  assert.equal(textOfActive(await node.start()), "on trial");
});

test("an invalid configuration at the very first start: the files are left to the ordinary reading", async (t) => {
  const node = await Node.make(t, "invalid: x");
  const dynamic = await node.start();
  assert.equal(dynamic.files, undefined);
  assert.equal(dynamic.status().active, undefined);
});

test("the last validation is for exactly the configuration that runs, and there is one if nothing is wrong", async (t) => {
  const node = await Node.make(t, "good");
  await node.startAndProve();
  assert.equal(node.validations, 1);
  node.source.text = "invalid";
  await node.start();
  assert.equal(node.validations, 3);
});

test("a damaged store never stops a start", async (t) => {
  const node = await Node.make(t, "good");
  await node.startAndProve();
  const good = await digest("good");
  const [copy] = (await readdir(node.path("checkpoints", good))).filter((name) => name.startsWith("0-"));
  await truncate(node.path("checkpoints", good, copy ?? ""), 1);
  for (const name of ["assigned", "current", "trial", "bad", "last-known-good"]) {
    await writeFile(node.path("meta", name), "\0garbage");
  }
  const dynamic = await node.start();
  assert.equal(textOfActive(dynamic), "good");
  assert.equal(dynamic.meta.get("trial")?.starts, 1);
  assert.deepEqual((await dynamic.checkpoints.load(good))?.config?.text, "good");
});

test("the last known good checkpoint is missing: a failing one cannot be rolled back and is not marked bad", async (t) => {
  const node = await Node.make(t, "good");
  await node.startAndProve();
  await rm(node.path("checkpoints", await digest("good")), { recursive: true });
  node.source.text = "crashing";
  for (let i = 0; i < 5; i++) assert.equal(textOfActive(await node.start()), "crashing");
  const dynamic = await node.start();
  assert.match(dynamic.status().error ?? "", /no earlier one to go back to/);
  assert.deepEqual(dynamic.meta.bad, []);
});

test("a folder that cannot be used is refused by name", async (t) => {
  const node = await Node.make(t, "good");
  await writeFile(node.path(), "a file");
  await assert.rejects(
    node.start(),
    (error: unknown) => error instanceof OperatorError && error.message.includes(node.directory),
  );
});
