// What the command lines of a checkout have in common. They are read before anything is installed or built, so they are
// plain JavaScript.

import { parseArgs } from "node:util";
import { CannotStart } from "../build/cannot-start.mjs";

/** As parseArgs; each error is one line that names the help. @throws CannotStart */
export function readWords(command, config) {
  try {
    const options = { ...config.options, help: { type: "boolean", short: "h", default: false } };
    return parseArgs({ ...config, options });
  } catch (error) {
    const [first] = error.message.split("\n");
    const [, dashed] = /^Option '(.+)' argument is ambiguous/.exec(first) ?? [];
    if (dashed !== undefined)
      throw new CannotStart(`${dashed} needs a value; one that begins with a dash is written ${dashed}=-…`);
    // Node explains how to pass such a word as an argument; no command here takes one.
    const line = first.replace(/\. To specify a positional argument starting with a '-'.*$/, "");
    throw new CannotStart(`${line} (${command} -- --help lists the options)`);
  }
}

/** The name that differs least from a wrong word, if one is near: a third of its letters at most. */
export function nearest(word, names) {
  const ranked = names.map((name) => [distance(word.slice(0, 40), name), name]).sort(([a], [b]) => a - b);
  const [[steps, name] = [Infinity]] = ranked;
  return steps <= Math.max(1, name.length / 3) ? name : undefined;
}

/** Letters to insert, delete or replace, or neighbours to swap. */
function distance(from, to) {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= from.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let least = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (same ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        least = Math.min(least, rows[i - 2][j - 2] + 1);
      rows[i].push(least);
    }
  }
  return rows[from.length][to.length];
}

/** Prints the help and ends the process if the words ask for it, whatever else they say. */
export function answerHelp(help, words) {
  if (!words.some((word) => word === "--help" || word === "-h")) return;
  process.stdout.write(help);
  process.exit(0);
}
