// Binary form of the eviction thread's records: protobuf wire primitives.

import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { wallTime } from "../base/clock/moments.js";
import { omitUndefined } from "../base/objects/omit-undefined.js";
import { EVICTION_SIGNALS } from "../kubernetes/api/eviction-threshold.js";
import { containerIdOf, podUid } from "../kubernetes/identifiers.js";
import { LOCAL_LIMITS, type EvictionRecord } from "./eviction.js";
import { PRESSURES, type Pressure } from "./node-status.js";
import { RecordError } from "./record-error.js";

const TAG_EVICT = 1;
const TAG_PRESSURES = 2;
const TAG_THRESHOLD_MET = 3;
const TAG_OOM = 4;

/** Eviction signals and local limits. */
const CAUSES = [...EVICTION_SIGNALS, ...LOCAL_LIMITS] as const;

type Of<Kind extends EvictionRecord["kind"]> = Extract<EvictionRecord, { kind: Kind }>;

export const evictionRecordCodec = {
  encode(record: EvictionRecord): Uint8Array {
    const writer = new BinaryWriter();
    switch (record.kind) {
      case "evict":
        return encodeEvict(writer.uint32(TAG_EVICT), record);
      case "pressures":
        writer.uint32(TAG_PRESSURES).uint32(record.pressures.length);
        for (const pressure of record.pressures) writer.uint32(PRESSURES.indexOf(pressure));
        return writer.finish();
      case "threshold-met":
        return writer.uint32(TAG_THRESHOLD_MET).string(record.resource).finish();
      case "oom":
        return encodeOom(writer.uint32(TAG_OOM), record);
    }
  },
  decode(bytes: Uint8Array): EvictionRecord {
    const reader = new BinaryReader(bytes);
    const tag = reader.uint32();
    switch (tag) {
      case TAG_EVICT:
        return decodeEvict(reader);
      case TAG_PRESSURES:
        return { kind: "pressures", pressures: times(reader.uint32(), () => pressureOf(reader.uint32())) };
      case TAG_THRESHOLD_MET:
        return { kind: "threshold-met", resource: reader.string() };
      case TAG_OOM:
        return decodeOom(reader);
      default:
        throw new RecordError(`record of the eviction thread with an unknown tag ${tag}`);
    }
  },
};

function encodeEvict(writer: BinaryWriter, record: Of<"evict">): Uint8Array {
  const annotations = Object.entries(record.annotations);
  writer
    .string(record.uid)
    .uint32(record.generation)
    .uint32(CAUSES.indexOf(record.signal))
    .double(record.graceSeconds)
    .string(record.message)
    .double(record.sampleAgeMs)
    .uint32(annotations.length);
  for (const [key, value] of annotations) writer.string(key).string(value);
  return writer.finish();
}

function decodeEvict(reader: BinaryReader): Of<"evict"> {
  const uid = podUid(reader.string());
  const generation = reader.uint32();
  const signal = CAUSES[reader.uint32()];
  if (signal === undefined) throw new RecordError(`order to evict pod ${uid} for an unknown signal`);
  const graceSeconds = reader.double();
  const message = reader.string();
  const sampleAgeMs = reader.double();
  const annotations = Object.fromEntries(times(reader.uint32(), () => [reader.string(), reader.string()] as const));
  return { kind: "evict", uid, generation, signal, graceSeconds, message, annotations, sampleAgeMs };
}

function encodeOom(writer: BinaryWriter, record: Of<"oom">): Uint8Array {
  return writer
    .uint32(record.pid)
    .string(record.process)
    .string(record.cgroup)
    .string(record.podUid ?? "")
    .string(record.containerId ?? "")
    .double(record.at)
    .finish();
}

function decodeOom(reader: BinaryReader): Of<"oom"> {
  const pid = reader.uint32();
  const process = reader.string();
  const cgroup = reader.string();
  const uid = reader.string();
  const container = reader.string();
  const at = reader.double();
  return omitUndefined({
    kind: "oom",
    pid,
    process,
    cgroup,
    podUid: uid !== "" ? podUid(uid) : undefined,
    containerId: container !== "" ? containerIdOf(container) : undefined,
    at: wallTime(at),
  });
}

function pressureOf(code: number): Pressure {
  const pressure = PRESSURES[code];
  if (pressure === undefined) throw new RecordError(`pressures with the unknown code ${code}`);
  return pressure;
}

function times<T>(count: number, read: () => T): T[] {
  const all: T[] = [];
  for (let left = count; left > 0; left--) all.push(read());
  return all;
}
