// The tables of messages (gen/messages.ts, gen/cluster-messages.ts), parsed when a message is first used. Names are
// those of JSON.
//
// A field is "<number> <name> <type>". Types: s string, b bool, i integer, y bytes, or the name of a message. Before
// it: * repeated, % map from strings, "." a message whose fields JSON has without a level of their own. Behind it: ?
// JSON leaves out "", false and 0, which protobuf has (a Go field with omitempty that is no pointer).

import { MESSAGES } from "./gen/messages.js";

export interface Field {
  number: number;
  /** As in JSON. */
  name: string;
  /** "s", "b", "i", "y", or a message. */
  type: string;
  kind: "one" | "repeated" | "map" | "inline";
  /** JSON leaves out the empty value. */
  dropsEmpty: boolean;
}

/** Objects carry fields that the table does not have under this key: bytes to encode again, invisible to JSON. */
export const UNKNOWN = Symbol("fields of a later version");

/** Messages that JSON has as text, numbers or lists; encoder and decoder know them by name. */
export type Special = "Quantity" | "Time" | "MicroTime" | "IntOrString" | "FieldsV1" | "RawExtension" | "ExtraValue";

const KINDS: Readonly<Record<string, Field["kind"]>> = { "*": "repeated", "%": "map", ".": "inline" };

export class Schema {
  private readonly parsed = new Map<string, readonly Field[]>();

  constructor(private readonly messages: Readonly<Record<string, string>>) {}

  /** In the order of the table. */
  fields(message: string): readonly Field[] {
    let fields = this.parsed.get(message);
    if (fields === undefined) {
      const text = this.messages[message] ?? "";
      fields = text === "" ? [] : text.split(", ").map(fieldOf);
      this.parsed.set(message, fields);
    }
    return fields;
  }
}

export const POD_SCHEMA = new Schema(MESSAGES);

function fieldOf(text: string): Field {
  const [number = "", name = "", marked = ""] = text.split(" ");
  const kind = KINDS[marked[0] ?? ""];
  const bare = kind === undefined ? marked : marked.slice(1);
  const dropsEmpty = bare.endsWith("?");
  const type = dropsEmpty ? bare.slice(0, -1) : bare;
  return { number: Number(number), name, type, kind: kind ?? "one", dropsEmpty };
}
