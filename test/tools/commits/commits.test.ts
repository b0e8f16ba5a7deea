// Subjects of commits: the rules, and which commits of a history they are applied to.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const { faultsOf } = (await import(`file://${ROOT}tools/commits/rules.mjs`)) as {
  faultsOf: (commit: { subject: string; parents: number }) => string[];
};
const { readHistory } = (await import(`file://${ROOT}tools/commits/history.mjs`)) as {
  readHistory: (
    root: string,
    range?: { base?: string; head?: string; exempt?: string },
  ) => { commits: { subject: string; parents: number }[]; since: string } | { unknown: string };
};

for (const subject of [
  "cli: apply sends manifests through the admin socket",
  "workers/server: close idle connections",
  "status, sync: a removed pod keeps its status",
  "docs: removed pods keep their records",
  `sync: ${"x".repeat(66)}`,
]) {
  test(`the subject "${subject.slice(0, 50)}" is right`, () => {
    assert.deepEqual(faultsOf({ subject, parents: 1 }), []);
  });
}

for (const [subject, fault] of [
  [`sync: ${"x".repeat(67)}`, /73 characters/],
  [`sync: ${"ä".repeat(67)}`, /73 characters/],
  ["Fix the sync", /form "area: what"/],
  ["Sync: keep the record", /form "area: what"/],
  ["sync:keep the record", /form "area: what"/],
  ["sync : keep the record", /form "area: what"/],
  ["", /form "area: what"/],
  ["sync: keep the record.", /full stop/],
  ["sync: adds a record", /imperative/],
  ["sync: Fixed the record", /imperative/],
  ["sync: Refactoring of the record", /imperative/],
  ["fixup! sync: keep the record", /unfinished/],
  ["sync: WIP", /unfinished/],
] as const) {
  test(`the subject "${subject.slice(0, 50)}" is refused`, () => {
    assert.match(faultsOf({ subject, parents: 1 }).join("; "), fault);
  });
}

test("a merge commit is refused, whatever its subject", () => {
  assert.match(faultsOf({ subject: "sync: keep the record", parents: 2 }).join("; "), /merge commit/);
});

describe("the commits that are checked", () => {
  let folder: string;
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@example.com", ...args], {
      cwd,
      encoding: "utf8",
      env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
      stdio: "pipe",
    }).trim();
  const commit = (cwd: string, subject: string): string => {
    git(cwd, "commit", "--quiet", "--allow-empty", "--message", subject);
    return git(cwd, "rev-parse", "HEAD");
  };
  const subjects = (root: string, range: { base?: string; exempt: string }): string[] => {
    const history = readHistory(root, range);
    assert.ok("commits" in history, JSON.stringify(history));
    return history.commits.map(({ subject }) => subject);
  };
  let exempt: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "nodelet-commits-"));
    await mkdir(join(folder, "whole"));
    const whole = join(folder, "whole");
    git(whole, "init", "--quiet", "--initial-branch=main");
    commit(whole, "Old words");
    exempt = commit(whole, "The last old words");
    commit(whole, "a: first");
    git(whole, "tag", "other");
    commit(whole, "b: second");
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test("without a tag they are those after the exempt one", () => {
    assert.deepEqual(subjects(join(folder, "whole"), { exempt }), ["b: second", "a: first"]);
  });

  test("with a base they are those of the branch, also if the base has moved on", () => {
    const whole = join(folder, "whole");
    git(whole, "checkout", "--quiet", "-b", "branch");
    commit(whole, "c: of the branch");
    git(whole, "checkout", "--quiet", "main");
    commit(whole, "d: of main");
    git(whole, "checkout", "--quiet", "branch");
    assert.deepEqual(subjects(whole, { base: "main", exempt }), ["c: of the branch"]);
    git(whole, "checkout", "--quiet", "main");
    assert.throws(() => readHistory(whole, { base: "nothing", exempt }));
  });

  test("after a release they are those since its tag", () => {
    const whole = join(folder, "whole");
    git(whole, "tag", "v1.0.0");
    commit(whole, "e: after the release");
    assert.deepEqual(subjects(whole, { exempt }), ["e: after the release"]);
  });

  test("a branch that was merged is found by its merge commit", () => {
    const whole = join(folder, "whole");
    git(whole, "merge", "--quiet", "--no-ff", "--message", "e: merge the branch", "branch");
    const history = readHistory(whole, { exempt });
    assert.ok("commits" in history);
    assert.deepEqual(
      history.commits.flatMap((one) => faultsOf(one)),
      ["is a merge commit: rebase the branch"],
    );
    assert.deepEqual(history.commits.map(({ subject }) => subject).sort(), [
      "c: of the branch",
      "e: after the release",
      "e: merge the branch",
    ]);
  });

  test("a shallow clone, another history and a folder without history are named, and pass", async () => {
    const shallow = join(folder, "shallow");
    git(folder, "clone", "--quiet", "--depth=1", `file://${join(folder, "whole")}`, shallow);
    assert.match(JSON.stringify(readHistory(shallow, { exempt })), /unknown.*shallow clone/);
    assert.match(JSON.stringify(readHistory(join(folder, "whole"))), /unknown.*history of its own/);

    const bare = join(folder, "bare");
    await cp(join(ROOT, "tools/commits"), join(bare, "tools/commits"), { recursive: true });
    const { status, stdout } = spawnSync(process.execPath, [join(bare, "tools/commits/main.mjs")], {
      encoding: "utf8",
    });
    assert.equal(status, 0);
    assert.match(stdout, /^commit subjects are not checked: .*not a git repository/);
  });
});

for (const words of [["nosuchcommit"], ["--help"], ["HEAD", "HEAD"]]) {
  test(`npm run ci:commits -- ${words.join(" ")} is refused with one line, without a stack`, () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, "tools/commits/main.mjs"), ...words], {
      encoding: "utf8",
    });
    // A copy of the sources without their history checks nothing.
    if (words[0] === "nosuchcommit" && stdout.startsWith("commit subjects are not checked")) return;
    assert.deepEqual({ status, stdout }, { status: 1, stdout: "" });
    assert.match(stderr, /^nodelet: .*\n$/);
  });
}
