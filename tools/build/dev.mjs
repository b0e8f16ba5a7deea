// `npm run dev [-- NAME…]`: after each change of a source it transpiles that source and runs the unit tests that are
// named, or those beside the change: a changed test itself, or the tests whose path has the changed file's name. Ctrl-C
// ends it.

import { spawn } from "node:child_process";
import { existsSync, readdirSync, watch } from "node:fs";
import { basename, join } from "node:path";
import { DEV_HELP, checkTestWords } from "../usage/test.mjs";
import { answerHelp, nearest } from "../usage/words.mjs";
import { fail, prepare, root } from "./bootstrap.mjs";
import { build } from "./build.mjs";
import { CannotStart } from "./cannot-start.mjs";

/** Editors write a file in several steps. */
const QUIET_MS = 50;
const FOLDERS = ["src", "test", "tools", "bench"];
/** Suites that need an environment: `npm test -- NAME` runs them. */
const ENVIRONMENT = /^test\/(integration|cluster|faults|hostile|vm)\//;

const names = process.argv.slice(2);
answerHelp(DEV_HELP, names);
try {
  checkTestWords(names, "npm run dev");
  checkNames();
} catch (error) {
  fail(error);
}
await prepare({ environment: false, bundle: false });
console.log("watching src, test, tools and bench; Ctrl-C ends it");

const changed = new Set();
let timer;
let running;
for (const folder of FOLDERS) {
  watch(join(root, folder), { recursive: true }, (_event, name) => {
    if (name?.endsWith(".ts") !== true) return;
    changed.add(`${folder}/${name}`);
    clearTimeout(timer);
    timer = setTimeout(() => void onChange().catch(fail), QUIET_MS);
  });
}

async function onChange() {
  const files = [...changed];
  changed.clear();
  running?.kill("SIGTERM");
  try {
    await build(root, { bundle: false });
  } catch (error) {
    if (!(error instanceof CannotStart)) throw error;
    console.error(error.message);
    return;
  }
  const tests = testsOf(files);
  console.log(`\n${files.join(", ")} changed: ${tests.length === 0 ? "no unit test beside it" : tests.join(", ")}`);
  if (tests.length === 0) return;
  const compiled = tests.map((test) => join("dist", test.replace(/\.ts$/, ".js")));
  const reporter = ["--test-reporter=spec", "--test-reporter-destination=stdout"];
  running = spawn(process.execPath, ["--test", ...reporter, ...compiled], { cwd: root, stdio: "inherit" });
}

/** Sources of all unit tests, relative to the checkout. */
function unitTests() {
  return readdirSync(join(root, "test"), { recursive: true })
    .map((name) => `test/${name}`)
    .filter((name) => name.endsWith(".test.ts") && !ENVIRONMENT.test(name));
}

/** A word that is in no path would wait for ever. @throws CannotStart */
function checkNames() {
  const all = unitTests();
  for (const name of names) {
    if (all.some((test) => test.includes(name))) continue;
    const near = nearest(
      name,
      all.flatMap((test) => test.replace(/\.test\.ts$/, "").split("/")),
    );
    const guess = near === undefined ? "" : ` Did you mean ${near}?`;
    throw new CannotStart(`no unit test has "${name}" in its path.${guess} (npm run dev -- --help)`);
  }
}

/** Sources of the unit tests to run after a change of `files`. */
function testsOf(files) {
  const all = unitTests();
  if (names.length > 0) return all.filter((test) => names.some((name) => test.includes(name)));
  const words = files
    .filter((file) => existsSync(join(root, file)))
    .map((file) => basename(file).replace(/(\.test)?\.ts$/, ""));
  return all.filter((test) => files.includes(test) || words.some((word) => basename(test) === `${word}.test.ts`));
}
