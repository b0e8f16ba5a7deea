// `npm run ci:commits [-- <commit>]`: checks the subjects of the commits since the last release tag, or since the
// branch left <commit>. A clone that does not have them, for example a shallow one, passes with a line that says so.
// Needs git only, no npm packages.

import { fileURLToPath } from "node:url";
import { readHistory } from "./history.mjs";
import { faultsOf } from "./rules.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** GitHub checks a pull request out as a merge commit of its own; the branch is its second parent. */
const head = process.env["GITHUB_EVENT_NAME"] === "pull_request" ? "HEAD^2" : "HEAD";

const [base, ...more] = process.argv.slice(2);
if (base?.startsWith("-") || more.length > 0)
  refuse("npm run ci:commits -- [<commit>]: no option, and one commit at most");
const history = knownHistory();
if ("unknown" in history) {
  console.log(`commit subjects are not checked: ${history.unknown}`);
} else {
  const wrong = history.commits.flatMap((commit) =>
    faultsOf(commit).map((fault) => `${commit.hash.slice(0, 8)} ${commit.subject}\n         ${fault}`),
  );
  for (const line of wrong) console.error(line);
  console.log(`${history.commits.length} commit subjects since ${history.since}: ${wrong.length} faults`);
  if (wrong.length > 0) process.exitCode = 1;
}

function knownHistory() {
  try {
    return readHistory(ROOT, { base, head });
  } catch (error) {
    return refuse(error.message);
  }
}

function refuse(why) {
  console.error(`nodelet: ${why}`);
  return process.exit(1);
}
