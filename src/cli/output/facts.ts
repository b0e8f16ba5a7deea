// Lines of a name and its value, one below the other. Pure.

import { oneLine } from "../../shared/base/text/printable.js";
import { foldedCell } from "./fold.js";

export type Fact = readonly [name: string, value: string];

/** A value that is wider than the terminal goes on below its beginning. */
export function factLines(facts: readonly Fact[], width: number, paintName = (name: string): string => name): string {
  const names = Math.max(...facts.map(([name]) => name.length));
  const room = Math.max(width - names - 2, 20);
  return facts
    .flatMap(([name, value]) =>
      foldedCell(oneLine(value), room).map((line, index) =>
        index === 0 ? `${paintName(name.padEnd(names))}  ${line}` : `${" ".repeat(names)}  ${line}`,
      ),
    )
    .map((line) => `${line}\n`)
    .join("");
}
