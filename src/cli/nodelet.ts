#!/usr/bin/env node
// Entry point of the nodelet command. Reads the command line and loads only the code of the named command.

import { EXIT } from "./errors.js";
import { printFailure } from "./output/terminal.js";
import { main } from "./program.js";

// A reader that has enough (`nodelet events | head`) closes the pipe. A full disk is a failure of one line.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  printFailure(`cannot write the output: ${error.message}`);
  process.exit(EXIT.wrong);
});
// A closed standard error leaves no place for a message.
process.stderr.on("error", () => undefined);
// Not at the top level: the bundle's modules are functions. A rejection is a defect: Node prints it and exits.
void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
