// Which files a change may have broken: a mistake is shown minutes earlier if these run first.

import { execFileSync } from "node:child_process";
import { dirname } from "node:path/posix";
import type { Job } from "./selection.js";

/** So many commits back a change counts as recent. */
const COMMITS = 50;
const COMMAND = ["log", "--format=", "--name-only", `--max-count=${COMMITS}`];

/** Paths below `root` that differ from the last commit or were in the last commits, each once; none without git. */
export function recentPaths(root: string): string[] {
  try {
    const lines = [["diff", "--name-only", "HEAD"], COMMAND].flatMap((args) =>
      execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).split("\n"),
    );
    return [...new Set(lines.filter((line) => line !== ""))];
  } catch {
    // A release's archive has no history: the usual order is as good.
    return [];
  }
}

/** The jobs in their order, those first whose test or source is in `paths`, then those with a changed neighbour. */
export function recentFirst(jobs: readonly Job[], paths: readonly string[]): Job[] {
  const changed = new Set(paths.map((path) => path.replace(/(\.test)?\.[cm]?[jt]s$/, "")));
  const folders = new Set(paths.map((path) => dirname(path)));
  const distance = ({ name }: Job): number => {
    const places = [`test/${name}`, `src/${name}`, name];
    if (places.some((place) => changed.has(place))) return 0;
    return [...places, ...places.map((place) => dirname(place))].some((place) => folders.has(place)) ? 1 : 2;
  };
  return [0, 1, 2].flatMap((step) => jobs.filter((job) => distance(job) === step));
}
