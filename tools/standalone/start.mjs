// `npm start`: makes a fresh clone runnable (bootstrap.mjs), then hands over to the compiled program. Its arguments are
// read first.

import { fail, prepare } from "../build/bootstrap.mjs";
import { HELP, parseStart } from "../usage/start.mjs";
import { answerHelp } from "../usage/words.mjs";

const words = process.argv.slice(2);
answerHelp(HELP, words);
try {
  const options = parseStart(words);
  await prepare();
  const { main } = await import("../../dist/tools/standalone/start.js");
  process.exitCode = await main(options);
} catch (error) {
  fail(error);
}
