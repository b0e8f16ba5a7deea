// Decodes Kubernetes' protobuf to objects in the form of JSON, by the table of messages.
// Invariant: the result equals the object that the same server sends as JSON. Null fields and empty lists, which
// protobuf lacks, are absent. Nesting is bounded by the table: no message of it contains itself.

import { parseJson } from "../../../base/text/parse-json.js";
import { placesOf, withDigits } from "../wide-integers.js";
import { DELIMITED, ProtobufDecodeError, Reader, VARINT } from "./reader.js";
import { type Schema, type Special, UNKNOWN } from "./schema.js";

type JsonObject = Record<string, unknown> & { [UNKNOWN]?: Uint8Array };

interface Slot {
  name: string;
  wire: number;
  kind: "one" | "repeated" | "map" | "inline";
  type: "s" | "b" | "i" | "y" | "message" | "special" | "skipped";
  dropsEmpty: boolean;
  /** Type of a message field; `slots` is filled at the first use. */
  message: string;
  slots: Slots | undefined;
  special: ReadSpecial | undefined;
}

type Slots = readonly (Slot | undefined)[];
type ReadSpecial = (reader: Reader, end: number) => unknown;

/** Bytes of a step: about a millisecond. */
const STEP_BYTES = 32 * 1024;

export class Decoder {
  private readonly plans = new Map<string, Slots>();

  /** @param skipped messages that are not decoded; their fields are absent */
  constructor(
    private readonly schema: Schema,
    private readonly skipped: ReadonlySet<string> = new Set(),
  ) {}

  /** @throws ProtobufDecodeError */
  decode(message: string, bytes: Buffer): Record<string, unknown> {
    return this.into({}, message, bytes);
  }

  /** Adds the fields of the message to an object. @throws ProtobufDecodeError */
  into(target: Record<string, unknown>, message: string, bytes: Buffer): Record<string, unknown> {
    const reader = new Reader(bytes);
    this.message(target, this.plan(message), reader, bytes.length);
    return reader.held.length === 0 ? target : withDigits(target, placesOf(target, reader.held));
  }

  /** As {@link into}, in steps of some milliseconds, however large the object is. @throws ProtobufDecodeError */
  *intoInSteps(
    target: Record<string, unknown>,
    message: string,
    bytes: Buffer,
  ): Generator<void, Record<string, unknown>> {
    const reader = new Reader(bytes);
    yield* this.messageInSteps(target, this.plan(message), reader, bytes.length);
    return reader.held.length === 0 ? target : withDigits(target, placesOf(target, reader.held));
  }

  private *messageInSteps(target: JsonObject, slots: Slots, reader: Reader, end: number): Generator<void, void> {
    const unknown = new UnknownFields(reader.bytes);
    let from = reader.pos;
    while (reader.pos < end) {
      const large = largeMessage(slots, reader, end);
      if (large === undefined) this.field(target, slots, reader, end, unknown);
      else {
        const { slot, stop } = large;
        const value: JsonObject = {};
        yield* this.messageInSteps(value, (slot.slots ??= this.plan(slot.message)), reader, stop);
        if (reader.pos !== stop) throw new ProtobufDecodeError(`${slot.name} does not end at its length`);
        if (slot.kind === "repeated") listOf(target, slot.name).push(value);
        else target[slot.name] = value;
      }
      if (reader.pos - from < STEP_BYTES) continue;
      yield;
      from = reader.pos;
    }
    const bytes = unknown.take();
    if (bytes !== undefined) target[UNKNOWN] = bytes;
  }

  private plan(message: string): Slots {
    let plan = this.plans.get(message);
    if (plan === undefined) {
      const slots: (Slot | undefined)[] = [];
      for (const field of this.schema.fields(message)) slots[field.number] = this.slot(field);
      plan = Array.from(slots);
      this.plans.set(message, plan);
    }
    return plan;
  }

  private slot({ name, type, kind, dropsEmpty }: ReturnType<Schema["fields"]>[number]): Slot {
    const special = SPECIAL[type as Special] as ReadSpecial | undefined;
    const plain = type === "s" || type === "b" || type === "i" || type === "y";
    const read = this.skipped.has(type) ? "skipped" : plain ? type : special === undefined ? "message" : "special";
    const wire = kind !== "map" && (type === "b" || type === "i") ? VARINT : DELIMITED;
    return { name, wire, kind, type: read, dropsEmpty, message: type, slots: undefined, special };
  }

  /** @param unknown fields that the table does not have */
  private fields(target: JsonObject, slots: Slots, reader: Reader, end: number, unknown: UnknownFields): void {
    while (reader.pos < end) this.field(target, slots, reader, end, unknown);
  }

  private field(target: JsonObject, slots: Slots, reader: Reader, end: number, unknown: UnknownFields): void {
    const start = reader.pos;
    const key = reader.uint32(end);
    const slot = slots[key >>> 3];
    if (slot === undefined) {
      reader.skip(key, end);
      unknown.add(start, reader.pos);
    } else if (slot.wire !== (key & 7)) throw new ProtobufDecodeError(`${slot.name} has the wire type ${key & 7}`);
    else if (slot.wire === VARINT) this.number(target, slot, reader.varint(end), reader);
    else if (slot.kind === "inline") this.inline(target, slot, reader, reader.delimited(end), key, unknown);
    else this.delimited(target, slot, reader, reader.delimited(end));
  }

  private message(target: JsonObject, slots: Slots, reader: Reader, end: number): void {
    const unknown = new UnknownFields(reader.bytes);
    this.fields(target, slots, reader, end, unknown);
    const bytes = unknown.take();
    if (bytes !== undefined) target[UNKNOWN] = bytes;
  }

  private number(target: JsonObject, { name, kind, type, dropsEmpty }: Slot, read: number, reader: Reader): void {
    const value = type === "b" ? read !== 0 : read;
    const list = kind === "repeated" ? listOf(target, name) : undefined;
    if (reader.wide !== undefined && type === "i") reader.hold(list ?? target, list?.length ?? name, read);
    if (list !== undefined) list.push(value);
    else if (read !== 0 || !dropsEmpty) target[name] = value;
  }

  private delimited(target: JsonObject, slot: Slot, reader: Reader, end: number): void {
    const { name, kind } = slot;
    if (slot.type === "skipped") reader.pos = end;
    else if (kind === "map") this.entry(target, slot, reader, end);
    else {
      const value = this.value(slot, reader, end);
      if (kind === "repeated") listOf(target, name).push(value);
      else if (value !== undefined && (value !== "" || !slot.dropsEmpty)) target[name] = value;
    }
    if (reader.pos !== end) throw new ProtobufDecodeError(`${name} does not end at its length`);
  }

  private value(slot: Slot, reader: Reader, end: number): unknown {
    switch (slot.type) {
      case "s":
        return reader.text(end);
      case "y": {
        const text = reader.bytes.toString("base64", reader.pos, end);
        reader.pos = end;
        return text;
      }
      case "b":
        return reader.varint(end) !== 0;
      case "i":
        return reader.varint(end);
      case "special":
        return slot.special?.(reader, end);
      default: {
        const object: JsonObject = {};
        this.message(object, (slot.slots ??= this.plan(slot.message)), reader, end);
        return object;
      }
    }
  }

  /** Fields of a level that JSON does not have. Unknown ones go back below their level. */
  private inline(
    target: JsonObject,
    slot: Slot,
    reader: Reader,
    end: number,
    key: number,
    unknown: UnknownFields,
  ): void {
    const inside = new UnknownFields(reader.bytes);
    this.fields(target, (slot.slots ??= this.plan(slot.message)), reader, end, inside);
    if (reader.pos !== end) throw new ProtobufDecodeError(`${slot.name} does not end at its length`);
    unknown.addBelow(key, inside.take());
  }

  private entry(target: JsonObject, slot: Slot, reader: Reader, end: number): void {
    let key = "";
    let value: unknown;
    while (reader.pos < end) {
      const tag = reader.uint32(end);
      if (tag === TEXT_1) key = reader.text(reader.delimited(end));
      else if (tag >>> 3 !== 2) reader.skip(tag, end);
      else if ((tag & 7) === VARINT) value = this.value(slot, reader, end);
      else if ((tag & 7) === DELIMITED) value = this.value(slot, reader, reader.delimited(end));
      else throw new ProtobufDecodeError(`a value of ${slot.name} has the wire type ${tag & 7}`);
    }
    const map = (target[slot.name] ??= {}) as Record<string, unknown>;
    value ??= slot.type === "s" || slot.type === "y" ? "" : {};
    // As JSON.parse: a field like any other, not the prototype.
    if (key === "__proto__") Object.defineProperty(map, key, { value, ...ORDINARY });
    else map[key] = value;
  }
}

/** The next field, if it is a message that is read in steps of its own; the reader is at its first byte then. */
function largeMessage(slots: Slots, reader: Reader, end: number): { slot: Slot; stop: number } | undefined {
  const start = reader.pos;
  const key = reader.uint32(end);
  const slot = slots[key >>> 3];
  const isMessage = slot?.type === "message" && (slot.kind === "one" || slot.kind === "repeated");
  if (isMessage && (key & 7) === DELIMITED) {
    const stop = reader.delimited(end);
    if (stop - reader.pos > STEP_BYTES) return { slot, stop };
  }
  reader.pos = start;
  return undefined;
}

const ORDINARY = { configurable: true, enumerable: true, writable: true };

function listOf(target: JsonObject, name: string): unknown[] {
  return (target[name] ??= []) as unknown[];
}

/** Collects the unknown fields of one message in linear time. */
class UnknownFields {
  private parts: Uint8Array[] | undefined;
  private start = 0;
  private end = 0;

  constructor(private readonly source: Buffer) {}

  add(start: number, end: number): void {
    if (start !== this.end) {
      this.flush();
      this.start = start;
    }
    this.end = end;
  }

  addBelow(key: number, bytes: Uint8Array | undefined): void {
    if (bytes === undefined) return;
    this.flush();
    this.parts?.push(varintOf(key), varintOf(bytes.length), bytes);
  }

  /** A copy: an unknown field must not hold the memory of a whole response. */
  take(): Uint8Array | undefined {
    if (this.parts === undefined && this.end === this.start) return undefined;
    this.flush();
    return Buffer.concat(this.parts ?? []);
  }

  private flush(): void {
    this.parts ??= [];
    if (this.end > this.start) this.parts.push(this.source.subarray(this.start, this.end));
    this.start = this.end;
  }
}

function varintOf(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** The numbers and texts of a message of few fields, by their numbers. */
function simple(reader: Reader, end: number): { numbers: number[]; texts: string[] } {
  const found = { numbers: [] as number[], texts: [] as string[] };
  while (reader.pos < end) {
    const key = reader.uint32(end);
    if ((key & 7) === VARINT) found.numbers[key >>> 3] = reader.varint(end);
    else if ((key & 7) === DELIMITED) found.texts[key >>> 3] = reader.text(reader.delimited(end));
    else reader.skip(key, end);
  }
  return found;
}

/** All texts of field 1. */
function texts(reader: Reader, end: number): string[] {
  const found: string[] = [];
  while (reader.pos < end) {
    const key = reader.uint32(end);
    if (key === TEXT_1) found.push(reader.text(reader.delimited(end)));
    else reader.skip(key, end);
  }
  return found;
}

const TEXT_1 = (1 << 3) | DELIMITED;

const SPECIAL: Readonly<Record<Special, ReadSpecial>> = {
  Quantity: (reader, end) => texts(reader, end).at(-1) ?? "0",
  Time(reader, end) {
    if (reader.pos === end) return undefined;
    const [, seconds = 0] = simple(reader, end).numbers;
    return timeText(seconds);
  },
  MicroTime(reader, end) {
    if (reader.pos === end) return undefined;
    const [, seconds = 0, nanos = 0] = simple(reader, end).numbers;
    const micros = String(Math.floor(nanos / 1000)).padStart(6, "0");
    return `${timeText(seconds).slice(0, -1)}.${micros}Z`;
  },
  IntOrString(reader, end) {
    const { numbers, texts: strings } = simple(reader, end);
    return (numbers[1] ?? 0) === 0 ? (numbers[2] ?? 0) : (strings[3] ?? "");
  },
  FieldsV1: readJson,
  RawExtension: readJson,
  ExtraValue: texts,
};

/** The times of one object are often the same second. */
const lastTime = { seconds: 0, text: "1970-01-01T00:00:00Z" };

function timeText(seconds: number): string {
  if (seconds === lastTime.seconds) return lastTime.text;
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) throw new ProtobufDecodeError("a time is out of range");
  lastTime.seconds = seconds;
  lastTime.text = `${date.toISOString().slice(0, -".000Z".length)}Z`;
  return lastTime.text;
}

function readJson(reader: Reader, end: number): unknown {
  const text = texts(reader, end).at(-1) ?? "";
  if (text === "") return undefined;
  try {
    return parseJson(text);
  } catch (error) {
    throw new ProtobufDecodeError("a field that holds JSON holds none", { cause: error });
  }
}
