// Config maps kept for a while, and not at all.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CachedObjects } from "../../../../src/main/cluster/objects/cached-objects.js";
import { DirectObjects } from "../../../../src/main/cluster/objects/object-manager.js";
import { ApiConnectionError } from "../../../../src/shared/kubernetes/api/client/errors.js";
import { CONFIG_MAPS } from "../../../../src/shared/kubernetes/api/client/kinds.js";
import type { ConfigMap } from "../../../../src/shared/kubernetes/api/objects.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { getKit } from "../follow-kit.js";

const never = new AbortController().signal;
const refs = new Map([["a", { inVolume: true }]]);
const map = (version: number): ConfigMap => ({ metadata: { name: "a", uid: "1", resourceVersion: String(version) } });

test("a read object is valid for the node's TTL, less some jitter; then the server's cache is read", async () => {
  const clock = new SteppedClock();
  let version = 5;
  const { client, calls } = getKit(() => map(version));
  const objects = new CachedObjects({ client, kind: CONFIG_MAPS, clock, ttlMs: () => 1000, random: () => 1 });
  const read = async (): Promise<string | undefined> => (await objects.get("ns", "a", never)).metadata.resourceVersion;
  objects.setReferences(podUid("u1"), "ns", refs);
  assert.equal(await read(), "5");
  version = 6;
  clock.step(899);
  assert.equal(await read(), "5");
  clock.step(1);
  assert.equal(await read(), "6");
  assert.deepEqual(calls, ["ns/a", "ns/a at 0"]);
  version = 4;
  clock.step(900);
  assert.equal(await read(), "6", "a server that is behind");
  objects.setReferences(podUid("u2"), "ns", refs);
  version = 7;
  assert.equal(await read(), "7", "a new pod sees what there is now");
  assert.equal(calls.at(-1), "ns/a");
});

test("absence is cached as well; an error is not, and the cached object serves meanwhile", async () => {
  const clock = new SteppedClock();
  let answer: ConfigMap | Error | undefined;
  const { client, calls } = getKit(() => answer);
  const objects = new CachedObjects({ client, kind: CONFIG_MAPS, clock, ttlMs: () => 1000, random: () => 0 });
  objects.setReferences(podUid("u1"), "ns", refs);
  await assert.rejects(objects.get("ns", "a", never), /not found/);
  await assert.rejects(objects.get("ns", "a", never), /not found/);
  assert.equal(calls.length, 1);
  clock.step(1000);
  answer = new ApiConnectionError("away");
  await assert.rejects(objects.get("ns", "a", never), /away/);
  answer = map(1);
  await objects.get("ns", "a", never);
  clock.step(1000);
  answer = new ApiConnectionError("away");
  assert.equal((await objects.get("ns", "a", never)).metadata.resourceVersion, "1");
  answer = undefined;
  await assert.rejects(objects.get("ns", "a", never), /not found/, "deleted");
});

test("an object without references is not cached", async () => {
  const clock = new SteppedClock();
  const { client, calls } = getKit(() => map(1));
  const objects = new CachedObjects({ client, kind: CONFIG_MAPS, clock, ttlMs: () => 1000 });
  await objects.get("ns", "a", never);
  await objects.get("ns", "a", never);
  objects.setReferences(podUid("u1"), "ns", refs);
  await objects.get("ns", "a", never);
  await objects.get("ns", "a", never);
  objects.podRemoved(podUid("u1"));
  await objects.get("ns", "a", never);
  assert.equal(calls.length, 4);
});

test("strategy Get sends a request every time", async () => {
  const { client, calls } = getKit(() => map(1));
  const objects = new DirectObjects<ConfigMap>({ client, kind: CONFIG_MAPS });
  await objects.get("ns", "a", never);
  await objects.get("ns", "a", never);
  assert.equal(calls.length, 2);
});
