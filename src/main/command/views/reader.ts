// Typed reads of the effective configuration for the views: one method per type. An unset field has the zero value.

import type { EffectiveConfig } from "../config/effective.js";
import type { FieldPath, FieldValue } from "../fields/fields.js";

/** The fields whose values are of type T. */
export type PathOf<T> = { [P in FieldPath]: FieldValue<P> extends T ? P : never }[FieldPath];
export type StringMap = Readonly<Record<string, string>>;

export const SECOND = 1000;

export class ConfigReader {
  constructor(readonly config: EffectiveConfig) {}

  get gate(): EffectiveConfig["gate"] {
    return this.config.gate;
  }

  text(path: PathOf<string>): string {
    return this.config.get(path) ?? "";
  }

  number(path: PathOf<number>): number {
    return this.config.get(path) ?? 0;
  }

  bool(path: PathOf<boolean>): boolean {
    return this.config.get(path) ?? false;
  }

  texts(path: PathOf<string[]>): string[] {
    return this.config.get(path) ?? [];
  }

  map(path: PathOf<StringMap>): StringMap {
    return this.config.get(path) ?? {};
  }

  /** A period in ms. A flag can set 0, which would be a loop without a pause: 0 means `standard`, as in a file. */
  period(path: PathOf<number>, standard: number): number {
    const given = this.number(path);
    return given > 0 ? given : standard;
  }
}
