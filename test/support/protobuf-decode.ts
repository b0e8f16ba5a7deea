// Reads Kubernetes' protobuf by the same table as the encoder: messages become plain objects; of a repeated field all
// values are kept.

import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { MESSAGES } from "../../src/shared/kubernetes/api/protobuf/gen/messages.js";

export type Decoded = Record<string, unknown>;

/** The fields of a message by their names; integers are bigints, unknown fields fail. */
export function decode(message: string, bytes: Uint8Array): Decoded {
  const fields = new Map(
    (MESSAGES[message] ?? "").split(", ").map((text) => {
      const [number, name = "", type = ""] = text.replace(/\?$/, "").split(" ");
      return [Number(number), { name, type }] as const;
    }),
  );
  const reader = new BinaryReader(bytes);
  const result: Decoded = {};
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    const field = fields.get(number);
    if (field === undefined) throw new Error(`${message} has no field ${number}`);
    const { name, type } = field;
    const plain = type.replace(/^[*%.]/, "");
    if (type.startsWith("%")) {
      const entry = readEntry(plain, reader.bytes());
      result[name] = { ...(result[name] as Decoded | undefined), [entry.key]: entry.value };
      continue;
    }
    const value = wire === WireType.Varint ? number0(plain, reader) : valueOf(plain, reader.bytes());
    if (type.startsWith("*")) result[name] = [...((result[name] as unknown[] | undefined) ?? []), value];
    else result[name] = value;
  }
  return result;
}

function number0(type: string, reader: BinaryReader): unknown {
  const value = BigInt(reader.int64());
  return type === "b" ? value === 1n : value;
}

function valueOf(type: string, bytes: Uint8Array): unknown {
  if (type === "s") return Buffer.from(bytes).toString();
  return type === "y" ? bytes : decode(type, bytes);
}

function readEntry(type: string, bytes: Uint8Array): { key: string; value: unknown } {
  const reader = new BinaryReader(bytes);
  reader.tag();
  const key = reader.string();
  reader.tag();
  return { key, value: valueOf(type, reader.bytes()) };
}
