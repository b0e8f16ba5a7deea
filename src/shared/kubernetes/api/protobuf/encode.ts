// Encodes API objects as Kubernetes' protobuf, by a table of messages. Objects are in the form of JSON. Quantities,
// times and "int or string" are texts or numbers in JSON, and messages in protobuf.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
// Invariant: a value of another type than the table's is an error, not garbage; with `strict` also a field that the
// table does not have.

import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { isRecord } from "../../../base/text/is-record.js";
import { POD_SCHEMA, type Schema, type Special, UNKNOWN } from "./schema.js";

/** The object cannot be encoded by the table: JSON can still carry it. */
export class ProtobufEncodeError extends Error {
  override readonly name = "ProtobufEncodeError";
  constructor(path: string, wanted: string, value: unknown) {
    super(`${path}: ${JSON.stringify(value ?? null).slice(0, 64)} is not ${wanted}`);
  }
}

interface EncodeOptions {
  schema?: Schema;
  /** A field that the table does not have is an error. Otherwise it is left out. */
  strict?: boolean;
}

/** The bytes of a message such as "Pod". @throws ProtobufEncodeError */
export function encode(message: string, object: unknown, options: EncodeOptions = {}): Uint8Array {
  const { schema = POD_SCHEMA, strict = false } = options;
  return new Encoder(schema, strict).encode(message, object);
}

class Encoder {
  private readonly writer = new BinaryWriter();

  constructor(
    private readonly schema: Schema,
    private readonly strict: boolean,
  ) {}

  encode(message: string, object: unknown): Uint8Array {
    this.message(message, object, message);
    return this.writer.finish();
  }

  private message(message: string, value: unknown, path: string): void {
    const special = SPECIAL[message as Special] as WriteSpecial | undefined;
    if (special !== undefined) {
      special(this.writer, value, path);
      return;
    }
    const object = asObject(value, path);
    const written = this.fields(message, object, path);
    const later = object[UNKNOWN];
    if (later !== undefined) this.writer.raw(later);
    if (this.strict) this.checkAll(object, written, message, path);
  }

  /** How many fields of the object were written. */
  private fields(message: string, object: JsonObject, path: string): number {
    const { writer } = this;
    let written = 0;
    for (const { number, name, type, kind } of this.schema.fields(message)) {
      if (kind === "inline") {
        writer.tag(number, WireType.LengthDelimited).fork();
        written += this.fields(type, object, path);
        writer.join();
        continue;
      }
      const field = object[name];
      if (field === undefined || field === null) continue;
      written += 1;
      const at = `${path}.${name}`;
      if (kind === "one") this.field(number, type, field, at);
      else if (kind === "map") this.map(number, type, field, at);
      else {
        if (!Array.isArray(field)) throw new ProtobufEncodeError(at, "a list", field);
        for (const [index, item] of field.entries()) this.field(number, type, item, `${at}[${index}]`);
      }
    }
    return written;
  }

  private checkAll(object: JsonObject, written: number, message: string, path: string): void {
    const keys = Object.keys(object).filter((key) => object[key] !== undefined && object[key] !== null);
    if (keys.length !== written) throw new ProtobufEncodeError(path, `a ${message} with known fields only`, keys);
  }

  private map(number: number, type: string, value: unknown, path: string): void {
    const { writer } = this;
    for (const [key, item] of Object.entries(asObject(value, path))) {
      writer.tag(number, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.LengthDelimited).string(key);
      this.field(2, type, item, `${path}[${JSON.stringify(key)}]`);
      writer.join();
    }
  }

  private field(number: number, type: string, value: unknown, path: string): void {
    const { writer } = this;
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
        this.message(type, value, path);
        writer.join();
    }
  }
}

type JsonObject = Record<string, unknown> & { [UNKNOWN]?: Uint8Array };

function asObject(value: unknown, path: string): JsonObject {
  if (isRecord(value)) return value;
  throw new ProtobufEncodeError(path, "an object", value);
}

type WriteSpecial = (writer: BinaryWriter, value: unknown, path: string) => void;

const SPECIAL: Readonly<Record<Special, WriteSpecial>> = {
  Quantity(writer, value, path) {
    if (typeof value !== "string" && typeof value !== "number")
      throw new ProtobufEncodeError(path, "a quantity", value);
    writer.tag(1, WireType.LengthDelimited).string(String(value));
  },
  Time(writer, value, path) {
    writeTime(writer, Math.floor(timeOf(value, path) / 1000), 0);
  },
  MicroTime(writer, value, path) {
    const seconds = Math.floor(timeOf(value, path) / 1000);
    const [, digits = ""] = /\.(\d{1,6})/.exec(String(value)) ?? [];
    writeTime(writer, seconds, Number(digits.padEnd(9, "0")));
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
  FieldsV1: writeJson,
  RawExtension: writeJson,
  ExtraValue(writer, value, path) {
    if (!Array.isArray(value)) throw new ProtobufEncodeError(path, "a list", value);
    for (const item of value as unknown[]) {
      if (typeof item !== "string") throw new ProtobufEncodeError(path, "a list of strings", value);
      writer.tag(1, WireType.LengthDelimited).string(item);
    }
  },
};

function timeOf(value: unknown, path: string): number {
  const ms = typeof value === "string" ? Date.parse(value) : NaN;
  if (Number.isNaN(ms)) throw new ProtobufEncodeError(path, "a time (RFC 3339)", value);
  return ms;
}

function writeTime(writer: BinaryWriter, seconds: number, nanos: number): void {
  writer.tag(1, WireType.Varint).int64(seconds);
  writer.tag(2, WireType.Varint).int32(nanos);
}

function writeJson(writer: BinaryWriter, value: unknown): void {
  writer.tag(1, WireType.LengthDelimited).bytes(Buffer.from(JSON.stringify(value)));
}
