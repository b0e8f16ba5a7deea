// The type of a row in the tables of flags. Rows are plain data; defaults are text, as --help shows them.

import { FIELDS, type Field, type FieldPath } from "../fields/fields.js";
import type { FlagKind } from "./kinds.js";

/** Subjects, in the order of --help. */
export const GROUPS = [
  "Start and configuration",
  "API server and credentials",
  "Node",
  "Static pods",
  "HTTP servers, authentication and authorization",
  "Container runtime and images",
  "Docker Engine as the container runtime",
  "Pod network",
  "CPU, memory and cgroups",
  "Eviction and garbage collection",
  "Volumes",
  "Logging",
  "Windows",
  "Accepted, without effect",
] as const;

export type Group = (typeof GROUPS)[number];

export interface Flag {
  readonly kind: FlagKind;
  /** As text; "" where there is none. */
  readonly default: string;
  readonly help: string;
  /** The KubeletConfiguration field it writes. */
  readonly field?: FieldPath;
  /** One letter, without its dash. */
  readonly short?: string;
  /** The value of a bare --name; such a flag never takes the next argument. */
  readonly bare?: string | undefined;
  /** The replacement of a deprecated flag. */
  readonly deprecated?: string;
  /** Its value never shows in a message or a log. */
  readonly secret?: true;
  /** Known on this platform only. */
  readonly platform?: NodeJS.Platform;
}

export type Flags = Readonly<Record<string, Flag>>;

/** A flag without a config field. */
export function flag(kind: FlagKind, value: string, help: string, more: Partial<Flag> = {}): Flag {
  return { kind, default: value, help, bare: kind === "bool" ? "true" : undefined, ...more };
}

/** A flag that writes a config field, which is where the value belongs today. Kind and default are the field's. */
export function mirror(path: FieldPath, help: string, more: Partial<Flag> = {}): Flag {
  return equalOf(path, help, { deprecated: `set ${path} in the file given by --config`, ...more });
}

/** A flag that writes a config field and is as good a place for the value as the file. */
export function equalOf(path: FieldPath, help: string, more: Partial<Flag> = {}): Flag {
  const field: Field = FIELDS[path];
  return flag(field.type, defaultText(field), help, { field: path, ...more });
}

/** The default of the field without --config, as --help shows it. */
function defaultText({ default: inFile, flagOnlyDefault = inFile }: Field): string {
  if (flagOnlyDefault === undefined) return "";
  if (Array.isArray(flagOnlyDefault)) return flagOnlyDefault.join(",");
  return typeof flagOnlyDefault === "string" ? flagOnlyDefault : JSON.stringify(flagOnlyDefault);
}
