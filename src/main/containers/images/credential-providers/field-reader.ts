// Reads the fields of a configuration file strictly. An unknown name, a wrong type or a missing value is a problem with
// its place. Reading continues, so that all problems are reported together.

import { nearestName } from "../../../../shared/base/text/nearest-name.js";
import { quote } from "../../../../shared/base/text/quote.js";
import { parseDuration } from "../../../command/duration.js";

export type Path = readonly (string | number)[];
export type Members = Readonly<Record<string, unknown>>;

export class FieldReader {
  readonly problems: string[] = [];

  constructor(
    private readonly file: string,
    /** "3:5": line and column. */
    private readonly placeOf: (path: Path) => string,
  ) {}

  object(value: unknown, path: Path, known: readonly string[]): Members | undefined {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.problem(path, "must be a map of fields");
      return undefined;
    }
    for (const name of Object.keys(value)) {
      if (known.includes(name)) continue;
      const meant = nearestName(name, known);
      this.problem([...path, name], `unknown field${meant === undefined ? "" : `; did you mean ${meant}?`}`);
    }
    return value as Members;
  }

  text(members: Members, path: Path, name: string): string {
    const value = members[name];
    if (typeof value === "string" && value !== "") return value;
    this.problem([...path, name], value === undefined || value === null ? "is missing" : "must be a text");
    return "";
  }

  texts(members: Members, path: Path, name: string): string[] {
    const value = members[name] ?? [];
    // Go has its zero value in the place of null.
    const texts = Array.isArray(value) ? value.map((item: unknown) => item ?? "") : undefined;
    if (texts?.every((item) => typeof item === "string") === true) return texts;
    this.problem([...path, name], "must be a list of strings");
    return [];
  }

  oneOf<T extends string>(members: Members, path: Path, name: string, values: readonly T[]): T | undefined {
    const value = this.text(members, path, name);
    const known = values.find((each) => each === value);
    if (value !== "" && known === undefined) {
      this.problem([...path, name], `${quote(value)} is not one of ${values.join(", ")}`);
    }
    return known;
  }

  duration(members: Members, path: Path, name: string): number {
    const text = this.text(members, path, name);
    const ms = text === "" ? 0 : parseDuration(text);
    if (ms !== undefined && ms >= 0) return ms;
    this.problem([...path, name], `${quote(text)} is not a duration of 0 or more, as 12h or 1m30s`);
    return 0;
  }

  problem(path: Path, message: string): void {
    const name = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("");
    const what = name === "" ? "" : ` ${name.replace(/^\./, "")}:`;
    this.problems.push(`${this.file}:${this.placeOf(path)}:${what} ${message}`);
  }
}
