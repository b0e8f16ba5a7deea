// The prober's records survive their binary form whole, whatever is in them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { probeRecordCodec } from "../../../src/shared/contracts/prober-codec.js";
import { PROBE_KINDS, type ProbeRecord } from "../../../src/shared/contracts/prober.js";
import { podUid, containerIdOf } from "../../../src/shared/kubernetes/identifiers.js";

const text = fc.string({ unit: "grapheme", maxLength: 300 });
const record: fc.Arbitrary<ProbeRecord> = fc
  .record({
    uid: text.map(podUid),
    containerId: text.map(containerIdOf),
    kind: fc.constantFrom(...PROBE_KINDS),
    generation: fc.integer({ min: 0, max: 0xffff_ffff }),
    outcome: fc.constantFrom("success" as const, "warning" as const, "failure" as const, "error" as const),
    output: text,
    inARow: fc.nat(),
    verdict: fc.constantFrom(undefined, "Success" as const, "Failure" as const),
    lateMs: fc.double({ min: 0, noNaN: true }),
    at: fc.double({ min: 0, noNaN: true }),
  })
  .map(({ verdict, ...rest }) => ({ ...rest, ...(verdict !== undefined && { verdict }) }));

test("every record is decoded as it was encoded", () => {
  fc.assert(
    fc.property(record, (given) => {
      assert.deepEqual(probeRecordCodec.decode(probeRecordCodec.encode(given)), given);
    }),
  );
});

test("a record of another version is refused", () => {
  const bytes = new BinaryWriter().string("uid").string("id").uint32(9).uint32(1).uint32(0).uint32(0).finish();
  assert.throws(() => probeRecordCodec.decode(bytes), { name: "RecordError" });
});
