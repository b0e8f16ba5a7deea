// `npm test`: makes a fresh clone runnable, sets up the environment, runs every suite, removes everything again.
// Arguments: names of suites (unit, integration, cluster, faults, hostile, vm); any other word selects files whose path contains it.
import { fail, prepare } from "../packaging/bootstrap.mjs";

const words = process.argv.slice(2);
await prepare({ environment: words.length === 0 || words.some((word) => word !== "unit") });
try {
  const { main } = await import("../dist/test/harness/main.js");
  process.exitCode = await main(words);
} catch (error) {
  fail(error);
}
