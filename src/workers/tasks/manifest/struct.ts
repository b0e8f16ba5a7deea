// Joins the generated fields of a message (gen/fields.ts) with the rules that are written by hand: the type of an
// object in a manifest.
//
// A generated field is "<mark><type><form>@<release>". Mark: [] list, {} map. Form: "?" Go leaves out the zero value,
// "*" a pointer, and nothing where Go always writes the field. The release is that of a later Kubernetes.
// Invariant: a rule for a field that upstream does not have, or of another type than the field's, is a compile error.

import {
  amount,
  bool,
  int,
  int64,
  intOrString,
  later,
  list,
  map,
  object,
  quantity,
  str,
  time,
  type AnyType,
  type FieldType,
  type IntType,
  type ObjectType,
  type StringType,
} from "./field-types.js";
import { FIELDS, type Fields } from "./gen/fields.js";

export type Message = keyof Fields;
type FieldOf<M extends Message> = keyof Fields[M] & string;

type Unmarked<T> = T extends `[]${infer Rest}` | `{}${infer Rest}` ? Rest : T;
type Unreleased<T> = T extends `${infer Rest}@${string}` ? Rest : T;
type Bare<T> = Unreleased<Unmarked<T>> extends `${infer Rest}?` | `${infer Rest}*` ? Rest : Unreleased<Unmarked<T>>;

type RuleFor<T> = T extends Message
  ? AnyType | Rule<T>
  : T extends "string"
    ? StringType
    : T extends "int32" | "int64"
      ? IntType
      : never;

/** What an object must hold beyond the types of its fields. */
export interface Rule<M extends Message = Message> {
  kind?: never;
  /** Rules of the fields' values, below lists and maps. */
  fields?: { readonly [F in FieldOf<M>]?: RuleFor<Bare<Fields[M][F]>> };
  required?: readonly FieldOf<M>[];
  /** The only fields that a manifest may have. */
  only?: readonly FieldOf<M>[];
  /** Fields of the API that are unknown in manifests. */
  without?: readonly FieldOf<M>[];
  /** Known to the API but not kept: dropped without a warning. */
  dropped?: readonly string[];
  /** Zero is kept, although absent means the same. */
  zeroKept?: readonly FieldOf<M>[];
  /** Structs that Go always writes although they may be omitted. */
  written?: readonly FieldOf<M>[];
  keptWhole?: true;
}

/** Rules by message, wherever it stands. `any`: nothing below the object is read by the kubelet. */
export type Rules = { readonly [M in Message]?: AnyType | Rule<M> };

/** A rule without its message's name, as the code below reads it. */
type AnyRule = AnyType | (Omit<Rule, "fields"> & { fields?: Readonly<Record<string, FieldType | AnyRule>> });

/** The generated types of a message, by field. */
export function typesOf(message: Message): ReadonlyMap<string, string> {
  return new Map(FIELDS[message].split(", ").map((field) => field.split(" ") as [string, string]));
}

const FIELD = /^(\[\]|\{\})?([A-Za-z0-9]+)([?*]?)(?:@(.+))?$/;

export class Structs {
  private readonly made = new Map<string, FieldType>();

  constructor(private readonly rules: Rules) {}

  object(message: Message): ObjectType {
    return this.ofMessage(message) as ObjectType;
  }

  private ofMessage(message: Message): FieldType {
    let made = this.made.get(message);
    if (made === undefined) {
      made = this.struct(message, this.rules[message] as AnyRule | undefined);
      this.made.set(message, made);
    }
    return made;
  }

  private struct(message: Message, rule: AnyRule = {}): FieldType {
    if (rule.kind !== undefined) return rule;
    const { fields = {}, required = [], only, without = [], dropped = [], zeroKept = [], written = [] } = rule;
    const table = typesOf(message);
    const absent: readonly string[] = [...without, ...dropped];
    const names = (only ?? [...table.keys()]).filter((name) => !absent.includes(name));
    const types = new Map<string, FieldType>();
    const zeros: Record<string, string | number | Readonly<Record<string, never>>> = {};
    for (const name of names) {
      const [, mark, type = "", form = "", release] = FIELD.exec(table.get(name) ?? "") ?? [];
      const leaf = this.leaf(type, mark, fields[name]);
      const isRequired = (required as readonly string[]).includes(name);
      const isWritten = (form === "" && mark === undefined) || (written as readonly string[]).includes(name);
      const keepsZero = form !== "?" || (zeroKept as readonly string[]).includes(name);
      const keepsEmpty = form === "*" || (isWritten && !isRequired);
      const one = mark === undefined ? withForm(leaf, keepsEmpty, keepsZero) : mark === "[]" ? list(leaf) : map(leaf);
      types.set(name, release === undefined ? one : later(one, release));
      const zero = zeroOf(leaf);
      if (isWritten && !isRequired && zero !== undefined) zeros[name] = zero;
    }
    const made = object(types, required, dropped, zeros);
    return rule.keptWhole === true ? { ...made, keptWhole: true } : made;
  }

  private leaf(type: string, mark: string | undefined, rule: FieldType | AnyRule | undefined): FieldType {
    if (isMessage(type)) return rule === undefined ? this.ofMessage(type) : this.struct(type, rule as AnyRule);
    if (rule !== undefined) return rule as FieldType;
    switch (type) {
      case "bool":
        return bool;
      case "int32":
        return int(-2147483648);
      case "int64":
        return int64();
      case "IntOrString":
        return intOrString;
      case "Quantity":
        return mark === "{}" ? amount : quantity;
      case "Time":
        return time;
      default:
        return str;
    }
  }
}

function isMessage(type: string): type is Message {
  return Object.hasOwn(FIELDS, type);
}

/** With what "", 0 and false mean for the field. */
function withForm(type: FieldType, keepsEmpty: boolean, keepsZero: boolean): FieldType {
  if (type.kind === "string") return keepsEmpty ? { ...type, keepsEmpty: true } : type;
  return (type.kind === "int" || type.kind === "bool") && !keepsZero ? { ...type, isPlain: true } : type;
}

function zeroOf({ kind }: FieldType): string | number | Readonly<Record<string, never>> | undefined {
  switch (kind) {
    case "string":
      return "";
    case "int":
      return 0;
    case "object":
      return {};
    default:
      return undefined;
  }
}
