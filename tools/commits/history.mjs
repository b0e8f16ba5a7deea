// The commits whose subjects are checked: those since the last release tag, or since the place where the branch left a
// given commit.

import { spawnSync } from "node:child_process";

/** The history up to this commit is exempt: it was written before the rule was checked. */
const EXEMPT = "751a63e7d6a396ad37764947a1259de5216088dc";

/**
 * @typedef {{ hash: string, parents: number, subject: string }} Commit
 * @typedef {{ commits: readonly Commit[], since: string } | { unknown: string }} History
 */

/**
 * The commits to check, or why this folder does not know them.
 *
 * @param {string} root
 * @param {{ base?: string | undefined, head?: string, exempt?: string }} [range] `base`: a commit, for example the
 *   branch to merge into
 * @returns {History}
 * @throws if `base` or `head` is unknown
 */
export function readHistory(root, { base, head = "HEAD", exempt = EXEMPT } = {}) {
  const run = (/** @type {string[]} */ ...args) => {
    const { status, stdout, stderr, error } = spawnSync("git", args, {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, LC_ALL: "C" },
      maxBuffer: 64 * 1024 * 1024,
    });
    return {
      isGood: status === 0,
      text: (stdout ?? "").trim(),
      problem: error?.message ?? (stderr ?? "").split("\n", 1)[0] ?? "",
    };
  };
  const git = (/** @type {string[]} */ ...args) => {
    const { isGood, text, problem } = run(...args);
    if (!isGood) throw new Error(`git ${args.join(" ")}: ${problem}`);
    return text;
  };

  const inside = run("rev-parse", "--is-inside-work-tree");
  if (!inside.isGood) return { unknown: inside.problem };
  if (!run("merge-base", "--is-ancestor", exempt, head).isGood) {
    const kind = git("rev-parse", "--is-shallow-repository") === "true" ? "a shallow clone" : "a history of its own";
    return { unknown: `this is ${kind}, without ${exempt.slice(0, 8)}, from which on subjects are checked` };
  }
  const tag = run("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", head);
  const start = base === undefined ? (tag.isGood ? tag.text : exempt) : git("merge-base", base, head);
  const log = git("log", "--format=%H%x00%P%x00%s", head, "--not", start, exempt);
  const commits = log.split("\n").filter((line) => line !== "");
  return {
    since: start === exempt ? exempt.slice(0, 8) : start,
    commits: commits.map((line) => {
      const [hash = "", parents = "", subject = ""] = line.split("\0");
      return { hash, parents: parents.split(" ").filter((parent) => parent !== "").length, subject };
    }),
  };
}
