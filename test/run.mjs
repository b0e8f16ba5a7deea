// `npm test`: makes a fresh clone runnable, opens an environment, runs the tests, removes everything again.
// test/README.md has its words.

import { fail, prepare } from "../tools/build/bootstrap.mjs";
import { HELP, checkTestWords } from "../tools/usage/test.mjs";
import { answerHelp } from "../tools/usage/words.mjs";

const words = process.argv.slice(2);
answerHelp(HELP, words);
try {
  checkTestWords(words);
} catch (error) {
  fail(error);
}
await prepare({ environment: words.length === 0 || words.some((word) => word !== "unit"), bundle: false });
try {
  const { main, needsBundle, selectJobs } = await import("../dist/test/harness/main.js");
  const jobs = selectJobs(words);
  if (needsBundle(jobs)) await prepare({ environment: false });
  process.exitCode = await main(jobs);
} catch (error) {
  fail(error);
}
