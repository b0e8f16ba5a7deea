// A row of docs/reference/limits.md.

export type Unit =
  | "bytes"
  | "levels"
  | "characters"
  | "ports"
  | "frames"
  | "fields"
  | "look-ups"
  | "names"
  | "clients"
  | "streams"
  | "connections"
  | "items"
  | "devices"
  | "events"
  | "documents"
  | "objects"
  | "changes"
  | "watches"
  | "manifests"
  | "entries"
  | "directories";

export interface LimitRow {
  /** The constant: file and name. */
  of: readonly [file: string, name: string];
  value: number;
  unit: Unit;
  /** The limited thing, as a noun. */
  what: string;
  /** What happens beyond it. */
  beyond: string;
  reason: string;
  upstream: string;
}

/** By subject. */
export type LimitRows = Readonly<Record<string, readonly LimitRow[]>>;
