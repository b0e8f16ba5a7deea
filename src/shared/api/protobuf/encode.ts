// Encodes API objects as Kubernetes' protobuf, by a table of messages. Objects are in the form of JSON: quantities, times and
// "int or string" are text or numbers there, and messages of their own here.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
// Invariant: fields that the table does not have are left out; a value of another type than the table's is an error, not garbage.
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { MESSAGES } from "./messages.js";

/** A value does not have the type of its field. */
class ProtobufEncodeError extends Error {
  override readonly name = "ProtobufEncodeError";
  constructor(path: string, wanted: string, value: unknown) {
    super(`${path}: ${JSON.stringify(value ?? null).slice(0, 64)} is not ${wanted}`);
  }
}

interface Field {
  number: number;
  name: string;
  /** "s", "b", "i", "y", or a message. */
  type: string;
  kind: "one" | "repeated" | "map" | "inline";
}

const KINDS: Readonly<Record<string, Field["kind"]>> = { "*": "repeated", "%": "map", ".": "inline" };
const tables = new Map<string, readonly Field[]>();

/** The bytes of a message such as "Pod". @throws ProtobufEncodeError */
export function encode(message: string, object: unknown): Uint8Array {
  const writer = new BinaryWriter();
  writeMessage(writer, message, object, message);
  return writer.finish();
}

function fieldsOf(message: string): readonly Field[] {
  let fields = tables.get(message);
  if (fields === undefined) {
    fields = (MESSAGES[message] ?? "").split(", ").map(fieldOf);
    tables.set(message, fields);
  }
  return fields;
}

function fieldOf(text: string): Field {
  const [number = "", name = "", type = ""] = text.split(" ");
  const kind = KINDS[type[0] ?? ""];
  return { number: Number(number), name, type: kind === undefined ? type : type.slice(1), kind: kind ?? "one" };
}

function writeMessage(writer: BinaryWriter, message: string, value: unknown, path: string): void {
  const special = SPECIAL[message];
  if (special !== undefined) {
    special(writer, value, path);
    return;
  }
  const object = asObject(value, path);
  for (const { number, name, type, kind } of fieldsOf(message)) {
    if (kind === "inline") {
      writer.tag(number, WireType.LengthDelimited).fork();
      writeMessage(writer, type, object, path);
      writer.join();
      continue;
    }
    const field = object[name];
    if (field === undefined || field === null) continue;
    const at = `${path}.${name}`;
    if (kind === "one") writeField(writer, number, type, field, at);
    else if (kind === "map") writeMap(writer, number, type, field, at);
    else {
      if (!Array.isArray(field)) throw new ProtobufEncodeError(at, "a list", field);
      for (const [index, item] of field.entries()) writeField(writer, number, type, item, `${at}[${index}]`);
    }
  }
}

function writeMap(writer: BinaryWriter, number: number, type: string, value: unknown, path: string): void {
  for (const [key, item] of Object.entries(asObject(value, path))) {
    writer.tag(number, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(key);
    writeField(writer, 2, type, item, `${path}[${JSON.stringify(key)}]`);
    writer.join();
  }
}

function writeField(writer: BinaryWriter, number: number, type: string, value: unknown, path: string): void {
  switch (type) {
    case "s":
      if (typeof value !== "string") throw new ProtobufEncodeError(path, "a string", value);
      writer.tag(number, WireType.LengthDelimited).string(value);
      return;
    case "b":
      if (typeof value !== "boolean") throw new ProtobufEncodeError(path, "a bool", value);
      writer.tag(number, WireType.Varint).bool(value);
      return;
    case "i":
      if (!Number.isSafeInteger(value)) throw new ProtobufEncodeError(path, "an integer", value);
      writer.tag(number, WireType.Varint).int64(value as number);
      return;
    case "y":
      if (typeof value !== "string") throw new ProtobufEncodeError(path, "base64", value);
      writer.tag(number, WireType.LengthDelimited).bytes(Buffer.from(value, "base64"));
      return;
    default:
      writer.tag(number, WireType.LengthDelimited).fork();
      writeMessage(writer, type, value, path);
      writer.join();
  }
}

function asObject(value: unknown, path: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new ProtobufEncodeError(path, "an object", value);
}

/** Messages that JSON has as text or numbers. */
const SPECIAL: Readonly<Record<string, (writer: BinaryWriter, value: unknown, path: string) => void>> = {
  Quantity(writer, value, path) {
    if (typeof value !== "string" && typeof value !== "number")
      throw new ProtobufEncodeError(path, "a quantity", value);
    writer.tag(1, WireType.LengthDelimited).string(String(value));
  },
  Time(writer, value, path) {
    const ms = typeof value === "string" ? Date.parse(value) : NaN;
    if (Number.isNaN(ms)) throw new ProtobufEncodeError(path, "a time (RFC 3339)", value);
    writer.tag(1, WireType.Varint).int64(Math.floor(ms / 1000));
    writer.tag(2, WireType.Varint).int32(0);
  },
  IntOrString(writer, value, path) {
    if (typeof value === "number" && Number.isInteger(value)) {
      writer.tag(1, WireType.Varint).int64(0);
      writer.tag(2, WireType.Varint).int32(value);
    } else if (typeof value === "string") {
      writer.tag(1, WireType.Varint).int64(1);
      writer.tag(3, WireType.LengthDelimited).string(value);
    } else throw new ProtobufEncodeError(path, "a number or a string", value);
  },
  FieldsV1(writer, value) {
    writer.tag(1, WireType.LengthDelimited).bytes(Buffer.from(JSON.stringify(value)));
  },
};
