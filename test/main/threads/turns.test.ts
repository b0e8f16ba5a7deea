// Turns: one job at a time, owners in turn, and no job that waits is forgotten.
// @promise Failures: Walks over a pod's directories send main a few hundred bytes per job, for any number of
//   directories; pods take turns by jobs, and walks for usage take turns with those for fsGroup.
// @with test/main/pods/disk-usage, test/workers/tasks/tree-walk.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import { Turns } from "../../../src/main/threads/turns.js";
import { settle } from "../../support/sync-kit.js";

/** Jobs that end when the test ends them. */
function build() {
  const turns = new Turns();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (owner: string, signal?: AbortSignal, kind = "usage"): Promise<string> =>
    turns.take(
      { kind, owner },
      () => {
        begun.push(owner);
        return new Promise<string>((resolve) => ends.push(() => resolve(owner)));
      },
      signal,
    );
  const end = async (): Promise<void> => {
    ends.shift()?.();
    await settle();
  };
  return { turns, begun, ask, end };
}

test("an owner with many jobs delays each of the others by one job", async () => {
  const { turns, begun, ask, end } = build();
  const all = [...["a", "a", "a", "a"], "b", "c", "b"].map((owner) => ask(owner));
  assert.deepEqual([begun, turns.waiting], [["a"], 6]);
  for (let job = 0; job < 7; job++) await end();
  assert.deepEqual(begun, ["a", "a", "b", "c", "a", "b", "a"]);
  assert.deepEqual(await Promise.all(all), ["a", "a", "a", "a", "b", "c", "b"]);
  assert.equal(turns.waiting, 0);
});

test("many owners with jobs of one kind delay another kind by one job", async () => {
  const { turns, begun, ask, end } = build();
  const owned = ["a", "b", "c", "d"].map((owner) => ask(owner, undefined, "ownership"));
  const used = ["x", "y", "x"].map((owner) => ask(owner));
  for (let job = 0; job < 7; job++) await end();
  assert.deepEqual(begun, ["a", "b", "x", "c", "y", "d", "x"]);
  await Promise.all([...owned, ...used]);
  assert.equal(turns.waiting, 0);
});

test("a job that fails gives its turn to the next; one that is called off leaves", async () => {
  const { turns, begun, ask, end } = build();
  const failing = turns.take({ kind: "usage", owner: "a" }, () => Promise.reject(new Error("ill")));
  await assert.rejects(failing, /ill/);
  const first = ask("a");
  const abort = new AbortController();
  const second = ask("b", abort.signal);
  const third = ask("c");
  abort.abort(new Error("called off"));
  await assert.rejects(second, /called off/);
  await end();
  await end();
  assert.deepEqual([begun, await first, await third], [["a", "c"], "a", "c"]);
  await assert.rejects(ask("d", abort.signal), /called off/);
  assert.equal(turns.waiting, 0);
});

test("a close rejects waiting jobs, and accepts no more", async () => {
  const { turns, ask, end } = build();
  const first = ask("a");
  const second = ask("b");
  turns.close(new Error("closed"));
  await assert.rejects(second, /closed/);
  await assert.rejects(ask("c"), /closed/);
  await end();
  assert.equal(await first, "a");
});
