// Binary form of the prober's records: protobuf wire primitives.

import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { omitUndefined } from "../base/objects/omit-undefined.js";
import { containerIdOf, podUid } from "../kubernetes/identifiers.js";
import { PROBE_KINDS, type ProbeOutcome, type ProbeRecord, type ProbeVerdict } from "./prober.js";
import { RecordError } from "./record-error.js";

const OUTCOMES = ["success", "warning", "failure", "error"] as const satisfies readonly ProbeOutcome[];
/** 0: none. */
const VERDICTS = [undefined, "Success", "Failure"] as const satisfies readonly (ProbeVerdict | undefined)[];

export const probeRecordCodec = {
  encode(record: ProbeRecord): Uint8Array {
    return new BinaryWriter()
      .string(record.uid)
      .string(record.containerId)
      .uint32(PROBE_KINDS.indexOf(record.kind))
      .uint32(record.generation)
      .uint32(OUTCOMES.indexOf(record.outcome))
      .uint32(VERDICTS.indexOf(record.verdict))
      .double(record.lateMs)
      .double(record.at)
      .string(record.output)
      .uint32(record.inARow)
      .finish();
  },
  decode(bytes: Uint8Array): ProbeRecord {
    const reader = new BinaryReader(bytes);
    const uid = podUid(reader.string());
    const id = containerIdOf(reader.string());
    const kind = PROBE_KINDS[reader.uint32()];
    const generation = reader.uint32();
    const outcome = OUTCOMES[reader.uint32()];
    const verdictCode = reader.uint32();
    if (kind === undefined || outcome === undefined || verdictCode >= VERDICTS.length) {
      throw new RecordError(`record of a probe of container ${id} with an unknown kind, outcome or verdict`);
    }
    const verdict = VERDICTS[verdictCode];
    const lateMs = reader.double();
    const at = reader.double();
    const output = reader.string();
    const inARow = reader.uint32();
    return omitUndefined({
      uid,
      containerId: id,
      kind,
      generation,
      outcome,
      output,
      verdict,
      inARow,
      lateMs,
      at,
    });
  },
};
