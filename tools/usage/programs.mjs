// Arguments of the programs that tools/build/run.mjs starts, by their files. Each reads them here, too, so that it
// answers the same without npm.

import { CannotStart } from "../build/cannot-start.mjs";
import { HELP as BENCH, LIST, parseBench } from "./bench.mjs";
import { answerHelp, readWords } from "./words.mjs";

const TOOLS = ["doctor", "flame", "bubbleprof", "heapprofiler"];
const PROFILE = `npm run profile -- [${TOOLS.join("|")}] [pods]

A clinic.js profile of the kubelet while a burst of pods starts and ends (default: doctor, 30 pods). npx fetches clinic.
Writes into bench/results/profile. Needs root.

  doctor        event loop, processor time, memory and handles over time, with a diagnosis
  flame         where processor time goes, as a flame graph of main
  bubbleprof    where main waits, by groups of asynchronous operations
  heapprofiler  which functions of main allocate memory
`;

function checkProfile(args) {
  const [tool = "doctor", pods = "30", ...more] = args;
  if (!TOOLS.includes(tool) || !/^[1-9]\d*$/.test(pods) || more.length > 0)
    throw new CannotStart(`${args.join(" ")}: one of ${TOOLS.join(", ")} and a number of pods are allowed`);
  return { tool, pods: Number(pods) };
}

const KUBERNETES = `npm run generate:kubernetes -- [options]

Writes the types, the protobuf tables and the field tables of manifests from the tables of tools/kubernetes/contract.

  --sources <folder>  first makes these tables anew, from clones of kubernetes/api and kubernetes/apimachinery in this folder
  --pinned <tag>      the version of Kubernetes (default: as before)
  --other <tag>       a version whose additional fields are kept, or its commits: <of api>,<of apimachinery> (default: as before)
  --release <x.y>     the name of that other version (default: as before)
`;

function checkKubernetes(args) {
  const option = { type: "string" };
  const options = { sources: option, pinned: option, other: option, release: option };
  const { values } = readWords("npm run generate:kubernetes", { args, options });
  const [needless] = ["pinned", "other", "release"].filter((name) => values[name] !== undefined);
  if (values.sources === undefined && needless !== undefined) throw new CannotStart(`--${needless} needs --sources`);
  return values;
}

/** For a program without arguments. */
function none(command, about) {
  const check = (args) => void readWords(command, { args, options: {} });
  return { help: `${command}\n\n${about} It has no options.\n`, check };
}

const PROGRAMS = {
  "dist/bench/main.js": { help: BENCH, check: parseBench, list: LIST },
  "dist/bench/profile.js": { help: PROFILE, check: checkProfile },
  "dist/tools/docs/main.js": none("npm run docs", "Writes the generated pages and pictures of docs."),
  "dist/tools/kubernetes/main.js": { help: KUBERNETES, check: checkKubernetes },
  "dist/tools/site/main.js": none("npm run site", "Writes the documentation as HTML into dist/site."),
};

/**
 * Answers --help and `list` and ends the process; otherwise returns the arguments as the program reads them.
 * @throws CannotStart
 */
export function checkProgram(program, args) {
  const known = PROGRAMS[program];
  if (known === undefined) throw new CannotStart(`${program} is no program of this checkout`);
  answerHelp(known.help, args);
  if (known.list !== undefined && args.length === 1 && args[0] === "list") {
    process.stdout.write(known.list);
    process.exit(0);
  }
  return known.check(args);
}
