// A pod's observations pass from the pleg thread to main as differences, through the binary form of their records.
// @promise Hostile tenants and clients: A change of one container is one container in the records between threads, and
//   no such record is longer than 64 KiB; starts of one pass have their pod inspected at a pace that fits its size.
// @with test/main/pods/sync/inspect-pace.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { WholePods } from "../../../src/main/threads/whole-pods.js";
import { plegRecordCodec } from "../../../src/shared/contracts/pleg-codec.js";
import type { PlegRecord, PlegWireRecord } from "../../../src/shared/contracts/pleg.js";
import {
  ContainerState,
  ContainerStatus,
  PodSandboxStatus,
} from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import {
  newestFirst,
  type ObservedPod,
  observedContainer,
  observedSandbox,
  type ObservedContainer,
} from "../../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { PublishedPod } from "../../../src/workers/pleg/published-pod.js";

const container = (at: number, exitCode = 0): ObservedContainer =>
  observedContainer(
    ContainerStatus.fromPartial({
      id: `c${at}`,
      metadata: { name: `n${at}`, attempt: 0 },
      state: exitCode === 0 ? ContainerState.CONTAINER_RUNNING : ContainerState.CONTAINER_EXITED,
      createdAt: BigInt(at % 7),
      exitCode,
    }),
  );

function observation(containers: ObservedContainer[], generation: number, uid = "u"): ObservedPod {
  const sandboxes =
    containers.length === 0 ? [] : [observedSandbox(PodSandboxStatus.fromPartial({ id: "s", createdAt: 1n }))];
  const sorted = containers.toSorted(newestFirst);
  return {
    uid: podUid(uid),
    namespace: "default",
    name: "p",
    sandboxes,
    containers: sorted,
    generation,
    observedAt: generation,
  };
}

function pass(pods: WholePods, records: readonly PlegWireRecord[]): PlegRecord[] {
  return records.flatMap((record) => pods.onRecord(plegRecordCodec.decode(plegRecordCodec.encode(record))) ?? []);
}

const partsIn = (records: readonly PlegWireRecord[]) =>
  records.flatMap((record) => (record.kind === "pod-part" ? [record] : []));

test("main's pod equals each observation, whichever containers came, changed or went before it", () => {
  const states = fc.uniqueArray(fc.tuple(fc.nat(20), fc.nat(3)), { selector: ([at]) => at, maxLength: 12 });
  fc.assert(
    fc.property(fc.array(states, { maxLength: 8 }), (steps) => {
      const [pods, published] = [new WholePods(), new PublishedPod()];
      for (const [generation, step] of steps.entries()) {
        const observed = observation(
          step.map(([at, exitCode]) => container(at, exitCode)),
          generation,
        );
        assert.deepEqual(pass(pods, published.take(observed).records), [{ kind: "pod", observed }]);
      }
    }),
  );
});

test("an observation that changes nothing is the same, and main keeps its list of containers", () => {
  const [pods, published] = [new WholePods(), new PublishedPod()];
  const listOf = (records: readonly PlegWireRecord[]) => {
    const [record] = pass(pods, records);
    return record?.kind === "pod" ? record.observed.containers : undefined;
  };
  const first = published.take(observation([container(1), container(2)], 1));
  assert.equal(first.same, false);
  const list = listOf(first.records);
  const second = published.take(observation([container(2), container(1)], 2));
  assert.equal(second.same, true);
  assert.equal(listOf(second.records), list);
});

test("one change among ten thousand containers is one container on its way, and no record is long", () => {
  const all = Array.from({ length: 10_000 }, (_, at) => container(at));
  const published = new PublishedPod();
  const { records } = published.take(observation(all, 1));
  for (const record of records) assert.ok(plegRecordCodec.encode(record).length < 64 * 1024);
  const changed = partsIn(published.take(observation(all.with(77, container(77, 3)), 2)).records);
  assert.deepEqual(
    changed.map((part) => part.changed.map(({ id }) => id)),
    [["c77"]],
  );
  const gone = partsIn(published.take(observation([], 3)).records);
  assert.equal(gone.flatMap(({ removed }) => removed).length, 10_000);
  for (const record of gone) assert.ok(plegRecordCodec.encode(record).length < 64 * 1024);
});

test("a status that is the same object as before is not encoded again", () => {
  const status = container(1, 4);
  let reads = 0;
  const counted = new Proxy(status, {
    get: (target, key, receiver): unknown => {
      reads++;
      return Reflect.get(target, key, receiver);
    },
  });
  const published = new PublishedPod();
  published.take(observation([counted], 1));
  const before = reads;
  assert.equal(published.take(observation([counted], 2)).same, true);
  assert.ok(reads - before < 5, `${reads - before} reads`);
});

test("a pod that the thread has forgotten begins anew; one that lost a part is refused", () => {
  const pods = new WholePods();
  pass(pods, new PublishedPod().take(observation([container(1), container(2)], 1)).records);
  const observed = observation([container(3)], 2);
  assert.deepEqual(pass(pods, new PublishedPod().take(observed).records), [{ kind: "pod", observed }]);
  const published = new PublishedPod();
  published.take(observation([container(1)], 1, "v"));
  const late = published.take(observation([container(1), container(2)], 2, "v")).records;
  assert.throws(() => pass(pods, late), { name: "MissingPartError" });
});
