// The arguments of `npm test` and `npm run dev`: names of suites and parts of paths. test/harness knows which there
// are.

import { CannotStart } from "../build/cannot-start.mjs";

export const HELP = `npm test -- [suite …] [part of a path …]

Without words: all unit tests and the core on real containerd, within ten minutes. Needs root; with \`unit\` it does not.

  npm test -- unit            one suite: unit, core, integration, cluster, faults, hostile, simulation, vm, on-containerd2,
                              on-installed-containerd, on-docker, on-node22, on-installed-node; or all
  npm test -- unit ring       the files of a suite whose path has a word
  npm test -- probes          the same in unit, integration, cluster, faults and hostile

test/README.md describes the suites.
`;

export const DEV_HELP = `npm run dev -- [part of a path …]

After each change of a source: the unit tests whose path has a word, or those beside the change. Ctrl-C ends it.
`;

/** No word is an option. @throws CannotStart */
export function checkTestWords(words, command = "npm test") {
  const option = words.find((word) => word.startsWith("-"));
  if (option !== undefined) throw new CannotStart(`${option} is no option (${command} -- --help says what is allowed)`);
}
