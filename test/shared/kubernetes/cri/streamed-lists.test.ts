// Lists through streams: in parts, in order, and by the unary call where the runtime has no streams.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CriError } from "../../../../src/shared/kubernetes/cri/errors.js";
import { IMAGE, pair, podConfig } from "./support.js";

/** More than one part of the fake runtime. */
const MANY = 130;

for (const listStreams of [true, false]) {
  test(`${MANY} sandboxes arrive ${listStreams ? "in parts" : "in one message of a runtime without streams"}`, async (t) => {
    const { fake, client } = await pair(t, { listStreams }, { listStreaming: true });
    const ids: string[] = [];
    for (let index = 0; index < MANY; index++) {
      ids.push((await client.runPodSandbox({ config: podConfig(`p${index}`) })).podSandboxId);
    }
    for (let round = 0; round < 2; round++) {
      const { items } = await client.listPodSandbox({});
      assert.deepEqual(new Set(items.map(({ id }) => id)), new Set(ids));
    }
    const one = await client.listPodSandbox({ filter: { id: ids[7] ?? "" } });
    assert.deepEqual(
      one.items.map(({ id }) => id),
      [ids[7]],
    );
    const times = (verb: string): number => fake.calls.filter((call) => call.verb === verb).length;
    const expected = listStreams ? [3, 0] : [1, 3];
    assert.deepEqual([times("StreamPodSandboxes"), times("ListPodSandbox")], expected);
  });
}

test("each list keeps the shape of its unary reply", async (t) => {
  const { client } = await pair(t, { listStreams: true, images: [IMAGE] }, { listStreaming: true });
  assert.equal((await client.listImages({})).images.length, 1);
  assert.deepEqual(await client.listContainers({}), { containers: [] });
  assert.deepEqual(await client.listContainerStats({}), { stats: [] });
  assert.deepEqual(await client.listPodSandboxStats({}), { stats: [] });
  assert.deepEqual(await client.listPodSandboxMetrics({}), { podMetrics: [] });
});

test("an error of the stream is an error of the list", async (t) => {
  const { fake, client } = await pair(t, { listStreams: true }, { listStreaming: true });
  fake.failpoint("StreamImages", "error(UNAVAILABLE: boom)");
  await assert.rejects(client.listImages({}), (error) => error instanceof CriError && error.code === "UNAVAILABLE");
  await assert.rejects(client.listImages({}), /^CriUnavailableError: CRI StreamImages recv failed at unix:/);
  fake.failpoint("StreamImages", "off");
  assert.ok((await client.listImages({})).images.length > 0, "the stream is requested again");
});
