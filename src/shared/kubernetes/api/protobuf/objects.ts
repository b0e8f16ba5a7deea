// Objects of the API in Kubernetes' protobuf encoding. It is "k8s", a zero byte, and an envelope with group, version,
// kind and the object's bytes. https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding

import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Decoder } from "./decode.js";
import { encode, ProtobufEncodeError } from "./encode.js";
import { CLUSTER_MESSAGES } from "./gen/cluster-messages.js";
import { MESSAGES } from "./gen/messages.js";
import { ROOTS } from "./gen/roots.js";
import { DELIMITED, ProtobufDecodeError, Reader } from "./reader.js";
import { Schema } from "./schema.js";

/** Before each object. */
export const MAGIC = Buffer.from("k8s\0");

/** Fields of the envelope, and of its type. */
export const ENVELOPE = { type: 1, object: 2 } as const;
const TYPE = { apiVersion: 1, kind: 2 } as const;

const SCHEMA = new Schema({ ...MESSAGES, ...CLUSTER_MESSAGES });

/** The kubelet reads no managedFields, and the API server keeps its own where an object that it gets has none. */
const DECODER = new Decoder(SCHEMA, new Set(["ManagedFieldsEntry"]));

/** apiVersion/kind of an object to its message. */
const MESSAGE_OF: ReadonlyMap<string, string> = new Map(ROOTS);

interface Typed {
  apiVersion?: string;
  kind?: string;
}

/** undefined: this kind travels as JSON only. */
export function messageOf({ apiVersion = "", kind = "" }: Typed): string | undefined {
  return MESSAGE_OF.get(`${apiVersion}/${kind}`);
}

/** undefined: the object has a kind, a field or a value that the table does not have; JSON carries it. */
export function encodeObject(object: Typed & Record<string, unknown>): Buffer | undefined {
  const message = messageOf(object);
  if (message === undefined) return undefined;
  const { apiVersion = "", kind = "", ...fields } = object;
  try {
    const bytes = encode(message, fields, { schema: SCHEMA, strict: true });
    return enveloped(apiVersion, kind, bytes);
  } catch (error) {
    if (error instanceof ProtobufEncodeError) return undefined;
    throw error;
  }
}

/** For servers in tests: a message without envelope; fields that the table does not have are left out. */
export function encodeMessage(message: string, fields: unknown): Uint8Array {
  return encode(message, fields, { schema: SCHEMA });
}

/** For servers in tests. */
export function enveloped(apiVersion: string, kind: string, object: Uint8Array): Buffer {
  const writer = new BinaryWriter();
  writer.raw(MAGIC).tag(ENVELOPE.type, WireType.LengthDelimited).fork();
  writer.tag(TYPE.apiVersion, WireType.LengthDelimited).string(apiVersion);
  writer.tag(TYPE.kind, WireType.LengthDelimited).string(kind);
  writer.join().tag(ENVELOPE.object, WireType.LengthDelimited).bytes(object);
  return Buffer.from(writer.finish());
}

/** With apiVersion and kind. @throws ProtobufDecodeError */
export function decodeObject(bytes: Buffer): Record<string, unknown> {
  const { target, message, object } = begin(bytes);
  return DECODER.into(target, message, object);
}

/** As {@link decodeObject}, in steps: other work of the thread may run between them. @throws ProtobufDecodeError */
export function* decodeInSteps(bytes: Buffer): Generator<void, Record<string, unknown>> {
  const { target, message, object } = begin(bytes);
  return yield* DECODER.intoInSteps(target, message, object);
}

function begin(bytes: Buffer): { target: Record<string, unknown>; message: string; object: Buffer } {
  const { type, object } = openEnvelope(bytes);
  const message = messageOf(type);
  if (message === undefined) throw new ProtobufDecodeError(`a ${type.apiVersion} ${type.kind} was not expected`);
  return { target: { kind: type.kind, apiVersion: type.apiVersion }, message, object };
}

/** A message without envelope, such as an item of a list. @throws ProtobufDecodeError */
export function decodeMessage(message: string, bytes: Buffer): Record<string, unknown> {
  return DECODER.decode(message, bytes);
}

/** @throws ProtobufDecodeError */
export function openEnvelope(bytes: Buffer): { type: Required<Typed>; object: Buffer } {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw new ProtobufDecodeError("the object has no envelope");
  const envelope = bytes.subarray(MAGIC.length);
  const type = fieldOf(envelope, ENVELOPE.type);
  const object = fieldOf(envelope, ENVELOPE.object);
  if (type === undefined || object === undefined) throw new ProtobufDecodeError("the envelope is not whole");
  return { type: readType(type), object };
}

/** apiVersion and kind from an envelope's type. @throws ProtobufDecodeError */
export function readType(bytes: Buffer): Required<Typed> {
  const texts = textsOf(bytes, [TYPE.apiVersion, TYPE.kind]);
  return { apiVersion: texts.get(TYPE.apiVersion) ?? "", kind: texts.get(TYPE.kind) ?? "" };
}

const METADATA = 1;
const META = { uid: 5, resourceVersion: 6 } as const;

/** UID and resource version of an object, from its metadata only. @throws ProtobufDecodeError */
export function versionOf(object: Buffer): { uid: string; resourceVersion: string } {
  const metadata = fieldOf(object, METADATA) ?? Buffer.alloc(0);
  const texts = textsOf(metadata, [META.uid, META.resourceVersion]);
  return { uid: texts.get(META.uid) ?? "", resourceVersion: texts.get(META.resourceVersion) ?? "" };
}

/** The first field of this number, unread. @throws ProtobufDecodeError */
export function fieldOf(message: Buffer, number: number): Buffer | undefined {
  const reader = new Reader(message);
  while (reader.pos < message.length) {
    const key = reader.uint32(message.length);
    if (key >>> 3 === number && (key & 7) === DELIMITED) {
      const stop = reader.delimited(message.length);
      return message.subarray(reader.pos, stop);
    }
    reader.skip(key, message.length);
  }
  return undefined;
}

function textsOf(message: Buffer, numbers: readonly number[]): Map<number, string> {
  const texts = new Map<number, string>();
  for (const number of numbers) {
    const bytes = fieldOf(message, number);
    if (bytes !== undefined) texts.set(number, bytes.toString("utf8"));
  }
  return texts;
}
