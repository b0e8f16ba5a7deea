// Metadata from the beginning of an object's protobuf. It reads objects over the limit of size, of which no more is
// kept. Encoders write fields by their numbers: names, versions and times of deletion come before labels.
// Invariant: only fields that are whole are read.

import { decodeMessage, ENVELOPE, MAGIC } from "./objects.js";
import { DELIMITED, ProtobufDecodeError, Reader } from "./reader.js";

const METADATA = 1;
/** ObjectMeta's labels; what follows may be of any length. */
const LABELS = 11;
const EVENT = { type: 1, object: 2, raw: 1 } as const;

/** The first fields of an object's metadata; empty if the bytes do not have it. @throws ProtobufDecodeError */
export function headOfMessage(object: Buffer): Record<string, unknown> {
  const metadata = begunField(object, METADATA);
  if (metadata === undefined) return {};
  const reader = new Reader(metadata);
  let end = 0;
  while (reader.pos < metadata.length) {
    const whole = wholeField(reader, metadata.length);
    if (whole === undefined || whole >= LABELS) break;
    end = reader.pos;
  }
  return decodeMessage("ObjectMeta", metadata.subarray(0, end));
}

/** Type of a watch's event, and the first fields of its object's metadata. @throws ProtobufDecodeError */
export function headOfEvent(frame: Buffer): { type: string; fields: Record<string, unknown> } {
  const type = begunField(frame, EVENT.type)?.toString("utf8") ?? "";
  const raw = begunField(begunField(frame, EVENT.object), EVENT.raw);
  return { type, fields: raw === undefined ? {} : headOfObject(raw) };
}

/** The first fields of the metadata of an object in its envelope. @throws ProtobufDecodeError */
export function headOfObject(bytes: Buffer): Record<string, unknown> {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return {};
  const object = begunField(bytes.subarray(MAGIC.length), ENVELOPE.object);
  return object === undefined ? {} : headOfMessage(object);
}

/** Passes over one field. @returns its number; undefined: the bytes end before it does */
function wholeField(reader: Reader, end: number): number | undefined {
  try {
    const key = reader.uint32(end);
    reader.skip(key, end);
    return key >>> 3;
  } catch (error) {
    if (error instanceof ProtobufDecodeError) return undefined;
    throw error;
  }
}

/** The first field of this number, as much of it as there is. */
function begunField(message: Buffer | undefined, number: number): Buffer | undefined {
  if (message === undefined) return undefined;
  const reader = new Reader(message);
  try {
    while (reader.pos < message.length) {
      const key = reader.uint32(message.length);
      if (key >>> 3 === number && (key & 7) === DELIMITED) {
        const length = reader.uint32(message.length);
        return message.subarray(reader.pos, reader.pos + length);
      }
      reader.skip(key, message.length);
    }
  } catch (error) {
    if (!(error instanceof ProtobufDecodeError)) throw error;
  }
  return undefined;
}
