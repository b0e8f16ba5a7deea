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
    // Node explains how to pass such a word as an argument; no command here takes one.
    const line = first.replace(/\. To specify a positional argument starting with a '-'.*$/, "");
    throw new CannotStart(`${line} (${command} -- --help lists the options)`);
  }
}

/** Prints the help and ends the process if the words ask for it, whatever else they say. */
export function answerHelp(help, words) {
  if (!words.some((word) => word === "--help" || word === "-h")) return;
  process.stdout.write(help);
  process.exit(0);
}
