// `node tools/build/run.mjs dist/bench/main.js …`: runs a program of this checkout on the Node of the packages, after
// the build of what changed. Help and wrong arguments are answered before anything is installed or built.

import { pathToFileURL } from "node:url";
import { checkProgram } from "../usage/programs.mjs";
import { fail, prepare, root } from "./bootstrap.mjs";

const [program, ...args] = process.argv.slice(2);
try {
  checkProgram(program, args);
  await prepare({ environment: false });
  process.argv = [process.argv[0], program, ...args];
  await import(new URL(program, pathToFileURL(`${root}/`)).href);
} catch (error) {
  fail(error);
}
