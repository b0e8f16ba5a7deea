// `npm run simulate`: runs the agent on a simulated node. docs/simulation.md has its words.

import { prepare } from "../tools/build/bootstrap.mjs";
import { HELP, readSimulateWords } from "../tools/usage/simulate.mjs";
import { answerHelp } from "../tools/usage/words.mjs";

const words = process.argv.slice(2);
answerHelp(HELP, words);
let options;
try {
  options = readSimulateWords(words);
} catch (error) {
  console.error(`nodelet: ${error.message}`);
  process.exit(2);
}
await prepare({ environment: false, bundle: false });
const { simulate } = await import("../dist/test/simulation/driver/simulate.js");
process.exitCode = await simulate(options);
