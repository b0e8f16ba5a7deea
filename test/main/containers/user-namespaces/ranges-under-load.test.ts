// No two live pods ever share an id: not while pods come and go at once, and not across restarts of the kubelet.

import assert from "node:assert/strict";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import type { IdRange } from "../../../../src/main/containers/user-namespaces/id-range.js";
import { UserNamespaces } from "../../../../src/main/containers/user-namespaces/user-namespaces.js";
import { usernsPath } from "../../../../src/shared/kubernetes/api/pod-paths.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod } from "../../../support/pods.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";

const UNIT = 65_536;
/** Slots of the node: fewer than the pods, so that released ones are used again at once. */
const SLOTS = 6;
const PODS = 9;

const podOf = (uid: string): Pod => pod({ containers: [], hostUsers: false }, uid, uid);

const overlap = (a: IdRange, b: IdRange): boolean => a.first < b.first + b.length && b.first < a.first + a.length;

/** A promise that the test resolves. */
function gate<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => (resolve = done));
  return { promise, resolve };
}

interface Live {
  ids: IdRange;
  /** The pod's removal has begun: its ids are no longer in use. */
  ends: boolean;
}

test("pods that start, end and restart with the kubelet at the same time never share an id", async (t) => {
  const root = await temporaryFolder(t);
  const uid = fc.integer({ min: 0, max: PODS - 1 }).map((at) => `pod-${at}`);
  const action = fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("start" as const), uid }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("end" as const), uid }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const), idsPerPod: fc.constantFrom(1, 2) }) },
  );
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(action, { minLength: 1, maxLength: 6 }), { maxLength: 12 }), async (rounds) => {
      const rootDir = join(root, String(run++));
      const kubelet = (units: number): UserNamespaces =>
        new UserNamespaces(
          {
            ...{ rootDir, idsPerPod: units * UNIT, maxPods: 1 },
            run: (program, [option]) => {
              const stdout = program === "getsubids" ? `0: kubelet ${2 * UNIT} ${SLOTS * UNIT}\n` : "";
              return Promise.resolve({ status: 0, stdout: option === "passwd" ? "kubelet" : stdout, stderr: "" });
            },
          },
          { observed: () => Promise.resolve([]), log: keptLog().log },
        );
      let namespaces = kubelet(1);
      const live = new Map<string, Live>();
      const check = (): void => {
        const all = [...live].filter(([, { ends }]) => !ends);
        for (const [a, one] of all)
          for (const [b, two] of all) assert.ok(a === b || !overlap(one.ids, two.ids), `${a} and ${b} share ids`);
      };
      const start = async (pod: string, by: UserNamespaces): Promise<void> => {
        const given = await by.forPod(podOf(pod)).catch((error: unknown) => {
          assert.equal(error instanceof Error && error.name, "UserNamespaceError");
          return undefined;
        });
        const [ids] = given?.uids ?? [];
        // A kubelet that was replaced meanwhile starts nothing.
        if (ids === undefined || by !== namespaces) return;
        const known = live.get(pod);
        if (known !== undefined && !known.ends) assert.equal(known.ids.first, ids.hostId, "a pod keeps its ids");
        live.set(pod, { ids: { first: ids.hostId, length: ids.length }, ends: false });
        check();
      };
      const end = async (pod: string, by: UserNamespaces): Promise<void> => {
        const known = live.get(pod);
        if (known === undefined || known.ends) return;
        known.ends = true;
        await rm(join(rootDir, "pods", pod), { recursive: true, force: true });
        by.release(podUid(pod));
        live.delete(pod);
      };
      for (const actions of rounds) {
        // One pod does one thing at a time, as its worker does; different pods do so at once.
        const turns = new Map<string, Promise<void>>();
        const restarts = actions.filter((each) => each.kind === "restart");
        for (const each of actions) {
          if (each.kind === "restart") continue;
          const by = namespaces;
          const before = turns.get(each.uid) ?? Promise.resolve();
          turns.set(
            each.uid,
            before.then(() => (each.kind === "start" ? start(each.uid, by) : end(each.uid, by))),
          );
        }
        await Promise.all(turns.values());
        const [last] = restarts;
        if (last !== undefined) namespaces = kubelet(last.idsPerPod);
        check();
      }
    }),
    { numRuns: 60 },
  );
});

test("ids of a pod that is released while the files are read are not taken for its next start's", async (t) => {
  const rootDir = await temporaryFolder(t);
  let read = (): void => undefined;
  const reading = new Promise<undefined>((resolve) => (read = () => resolve(undefined)));
  const kubelet = (run: () => Promise<undefined>): UserNamespaces =>
    new UserNamespaces(
      { rootDir, idsPerPod: UNIT, maxPods: 1, run },
      { observed: () => Promise.resolve([]), log: keptLog().log },
    );
  await kubelet(() => Promise.resolve(undefined)).forPod(podOf("pod-1"));
  const next = kubelet(() => reading);
  const other = next.forPod(podOf("pod-2"));
  // The file is still seen by the reading: the folder goes at the same moment.
  next.release(podUid("pod-1"));
  read();
  await other;
  await rm(join(rootDir, "pods", "pod-1"), { recursive: true });
  const started = await next.forPod(podOf("pod-1"));
  const third = await kubelet(() => Promise.resolve(undefined)).forPod(podOf("pod-3"));
  assert.notEqual(
    third?.uids[0]?.hostId,
    started?.uids[0]?.hostId,
    "the next kubelet knows the ids of the pod that runs",
  );
});

test("ids of a pod that was released before its file was read are not its next start's while other files are read", async (t) => {
  const rootDir = await temporaryFolder(t);
  const first = new UserNamespaces(
    { rootDir, idsPerPod: UNIT, maxPods: 1, run: () => Promise.resolve(undefined) },
    { observed: () => Promise.resolve([]), log: keptLog().log },
  );
  for (const uid of ["a", "b", "c"]) await first.forPod(podOf(uid));
  // The order in which the next kubelet reads the files.
  const order = await readdir(join(rootDir, "pods"));
  const [early = "", late = ""] = [order[0], order.at(-1)];
  await writeFile(usernsPath(rootDir, podUid(late)), "damaged");
  const ranges = gate<undefined>();
  const observed = gate<IdRange[]>();
  const looked = gate<undefined>();
  const next = new UserNamespaces(
    { rootDir, idsPerPod: UNIT, maxPods: 1, run: () => ranges.promise },
    {
      observed: () => {
        looked.resolve(undefined);
        return observed.promise;
      },
      log: keptLog().log,
    },
  );
  const other = next.forPod(podOf("other"));
  next.release(podUid(early));
  ranges.resolve(undefined);
  await looked.promise;
  // Its file is read, another one is not.
  const again = next.forPod(podOf(early));
  observed.resolve([]);
  const given = [await other, await again, await next.forPod(podOf("third"))].map((ids) => ids?.uids[0]?.hostId);
  assert.equal(new Set(given).size, given.length, given.join());
});

test("two requests of one pod share their end: ids that could not be written are given to neither", async (t) => {
  const rootDir = await temporaryFolder(t);
  await mkdir(usernsPath(rootDir, podUid("pod-1")), { recursive: true });
  const namespaces = new UserNamespaces(
    { rootDir, idsPerPod: UNIT, maxPods: 1, run: () => Promise.resolve(undefined) },
    { observed: () => Promise.resolve([]), log: keptLog().log },
  );
  const results = await Promise.allSettled([1, 2].map(() => namespaces.forPod(podOf("pod-1"))));
  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "rejected"],
  );
});

test("a hundred pods in a row find a free slot among a few: none is lost", async (t) => {
  const rootDir = await temporaryFolder(t);
  const namespaces = new UserNamespaces(
    {
      ...{ rootDir, idsPerPod: UNIT, maxPods: 1 },
      run: (program) =>
        Promise.resolve({
          status: 0,
          stdout: program === "getsubids" ? `0: kubelet ${UNIT} ${2 * UNIT}\n` : "",
          stderr: "",
        }),
    },
    { observed: () => Promise.resolve([]), log: keptLog().log },
  );
  for (let at = 0; at < 100; at++) {
    assert.ok((await namespaces.forPod(podOf(`pod-${at}`))) !== undefined);
    await rm(join(rootDir, "pods", `pod-${at}`), { recursive: true, force: true });
    namespaces.release(podUid(`pod-${at}`));
  }
});
