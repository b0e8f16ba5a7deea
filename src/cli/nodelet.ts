#!/usr/bin/env node
// Entry point of the nodelet command. Reads the command line and loads only the code of the named command.
import { main } from "./program.js";

// A reader that has enough (`nodelet events | head`) closes the pipe.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});
// Not at the top level: the bundle's modules are functions. A rejection is a defect: Node prints it and exits.
void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
