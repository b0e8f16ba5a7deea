// `npm run ci:nodes`: suites on the oldest supported Node.js and on the installed one, side by side: they mostly wait for containers.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fail, prepare } from "../packaging/bootstrap.mjs";

const NODES = ["22", "installed"];

/** Runs `npm test -- words` with the tests on one Node.js, whose name begins each line; resolves to the exit status. */
function runOn(node, words) {
  const env = { ...process.env, NODELET_TEST_NODE: node };
  const run = new URL("run.mjs", import.meta.url).pathname;
  const child = spawn(process.execPath, [run, ...words], { env, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => console.log(`node ${node}: ${line}`));
  }
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.on("close", (status) => resolve(status ?? 1)));
}

try {
  // Once, before the runs: they would wait for each other's build.
  await prepare({ environment: true });
  const statuses = await Promise.all(NODES.map((node) => runOn(node, process.argv.slice(2))));
  process.exitCode = statuses.every((status) => status === 0) ? 0 : 1;
} catch (error) {
  fail(error);
}
