// Cgroups of unknown pods: removed one at a time, never for a pod that came back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { OrphanCgroups } from "../../../../src/main/resources/cgroups/orphan-cgroups.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { keptLog } from "../../../support/sources-kit.js";

function build(remove: (uid: string) => Promise<void>) {
  const kept = keptLog();
  const known = new Set<string>();
  const removed: string[] = [];
  let under = 0;
  const state = { most: 0 };
  const orphans = new OrphanCgroups({
    cgroups: {
      async removePod(uid) {
        state.most = Math.max(state.most, ++under);
        try {
          await new Promise((resolve) => setImmediate(resolve));
          await remove(uid);
          removed.push(uid);
        } finally {
          under--;
        }
      },
    },
    isKnown: (uid) => known.has(uid),
    log: kept.log,
  });
  return { orphans, known, removed, kept, state };
}

test("a thousand go one after the other, each once, and the event loop runs in between", async () => {
  const { orphans, removed, state, kept } = build(() => Promise.resolve());
  const uids = Array.from({ length: 1000 }, (_, n) => podUid(`u${n}`));
  orphans.add(uids);
  orphans.add(uids);
  await orphans.idle();
  assert.deepEqual(removed, uids);
  assert.equal(state.most, 1);
  assert.ok(kept.lines.some((line) => JSON.stringify(line).includes("1000 orphaned pods")));
});

test("a cgroup whose pod is wanted at its turn stays", async () => {
  const { orphans, known, removed } = build(() => {
    known.add("b");
    return Promise.resolve();
  });
  orphans.add([podUid("a"), podUid("b"), podUid("c")]);
  await orphans.idle();
  assert.deepEqual(removed, ["a", "c"]);
});

test("a cgroup that can't be removed is reported and delays no other; it is tried again when it is found again", async () => {
  let busy = true;
  const { orphans, removed, kept } = build((uid) =>
    uid === "a" && busy ? Promise.reject(new Error("inside: 17 (stuck)")) : Promise.resolve(),
  );
  orphans.add([podUid("a"), podUid("b")]);
  await orphans.idle();
  assert.deepEqual(removed, ["b"]);
  assert.ok(kept.lines.some((line) => JSON.stringify(line).includes("17 (stuck)")));
  busy = false;
  orphans.add([podUid("a")]);
  await orphans.idle();
  assert.deepEqual(removed, ["b", "a"]);
});

test("a stop leaves the rest to the next kubelet", async () => {
  const { orphans, removed } = build(() => Promise.resolve());
  orphans.add([podUid("a"), podUid("b"), podUid("c")]);
  await orphans.stop();
  orphans.add([podUid("d")]);
  await orphans.idle();
  assert.deepEqual(removed, ["a"]);
});
