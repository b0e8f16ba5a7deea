// The eviction thread's records survive their binary form whole, whatever is in them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { wallTime } from "../../../src/shared/base/clock/moments.js";
import { evictionRecordCodec } from "../../../src/shared/contracts/eviction-codec.js";
import { LOCAL_LIMITS, type EvictionRecord } from "../../../src/shared/contracts/eviction.js";
import { PRESSURES } from "../../../src/shared/contracts/node-status.js";
import { EVICTION_SIGNALS } from "../../../src/shared/kubernetes/api/eviction-threshold.js";
import { podUid, containerIdOf } from "../../../src/shared/kubernetes/identifiers.js";

const text = fc.string({ unit: "grapheme", maxLength: 300 });
const word = fc.integer({ min: 0, max: 0xffff_ffff });
const someText = fc.string({ unit: "grapheme", minLength: 1, maxLength: 80 });
const PLAIN = { noNullPrototype: true };
const record: fc.Arbitrary<EvictionRecord> = fc.oneof(
  fc.record(
    {
      kind: fc.constant("evict" as const),
      uid: text.map(podUid),
      generation: word,
      signal: fc.constantFrom(...EVICTION_SIGNALS, ...LOCAL_LIMITS),
      graceSeconds: fc.integer({ min: -1, max: 2 ** 40 }),
      message: text,
      annotations: fc.dictionary(text, text, { noNullPrototype: true }),
      sampleAgeMs: fc.double({ min: 0, noNaN: true }),
    },
    PLAIN,
  ),
  fc.record({ kind: fc.constant("pressures" as const), pressures: fc.subarray([...PRESSURES]) }, PLAIN),
  fc.record({ kind: fc.constant("threshold-met" as const), resource: text }, PLAIN),
  fc.record(
    {
      kind: fc.constant("oom" as const),
      pid: word,
      process: text,
      cgroup: text,
      podUid: someText.map(podUid),
      containerId: someText.map(containerIdOf),
      at: fc.double({ min: 0, noNaN: true }).map(wallTime),
    },
    { requiredKeys: ["kind", "pid", "process", "cgroup", "at"], ...PLAIN },
  ),
);

test("every record is decoded as it was encoded", () => {
  fc.assert(
    fc.property(record, (given) => {
      assert.deepEqual(evictionRecordCodec.decode(evictionRecordCodec.encode(given)), given);
    }),
  );
});

test("a record of another version is refused", () => {
  const unknownTag = new BinaryWriter().uint32(9).finish();
  const unknownSignal = new BinaryWriter().uint32(1).string("uid").uint32(1).uint32(99).finish();
  const unknownPressure = new BinaryWriter().uint32(2).uint32(1).uint32(7).finish();
  for (const bytes of [unknownTag, unknownSignal, unknownPressure]) {
    assert.throws(() => evictionRecordCodec.decode(bytes), { name: "RecordError" });
  }
});
