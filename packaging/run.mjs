// `node packaging/run.mjs dist/bench/main.js …`: runs a program of this checkout on the Node of the packages, after the build of what changed.
import { pathToFileURL } from "node:url";
import { fail, prepare, root } from "./bootstrap.mjs";

const [program, ...args] = process.argv.slice(2);
await prepare({ environment: false });
process.argv = [process.argv[0], program, ...args];
try {
  await import(new URL(program, pathToFileURL(`${root}/`)).href);
} catch (error) {
  fail(error);
}
