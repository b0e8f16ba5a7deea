// Links to container logs that lead nowhere go, unless their container lives.

import assert from "node:assert/strict";
import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { containerIdOf, linkLoop, removeDanglingLinks } from "../../../../src/main/pods/collection/log-links.js";
import { canHang, HungMounts } from "../../../support/hung-mounts.js";
import { keptLog, temporaryFolder, until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const idOf = (digit: string): string => digit.repeat(64);
const nameOf = (digit: string): string => `web_default_app-${idOf(digit)}.log`;

test("dangling links of removed or exited containers are removed; all others stay", async (t) => {
  const folder = await temporaryFolder(t);
  const directory = join(folder, "containers");
  await mkdir(directory);
  await writeFile(join(folder, "0.log"), "");
  const nowhere = join(folder, "gone", "0.log");
  await symlink(join(folder, "0.log"), join(directory, nameOf("1")));
  await symlink(nowhere, join(directory, nameOf("2")));
  await symlink(nowhere, join(directory, nameOf("3")));
  // A path through a file leads nowhere as well.
  await symlink(join(folder, "0.log", "x"), join(directory, nameOf("4")));
  await symlink(nowhere, join(directory, "somebody-elses.log"));
  await writeFile(join(directory, nameOf("5")), "a file");
  const options = { directory, log: keptLog().log, livingContainers: () => new Set([idOf("2")]) };
  assert.equal(await removeDanglingLinks(options), 2);
  const left = [nameOf("1"), nameOf("2"), nameOf("5"), "somebody-elses.log"];
  assert.deepEqual((await readdir(directory)).sort(), left.sort());
});

test("nothing is removed while main does not know all containers; a missing folder has no links", async (t) => {
  const directory = await temporaryFolder(t);
  await symlink("/nowhere/at/all", join(directory, nameOf("1")));
  const options = { directory, log: keptLog().log, livingContainers: () => undefined };
  assert.equal(await removeDanglingLinks(options), 0);
  assert.deepEqual(await readdir(directory), [nameOf("1")]);
  assert.equal(await removeDanglingLinks({ ...options, directory: join(directory, "none") }), 0);
});

test("the link of a container that is created during a round stays", async (t) => {
  const directory = await temporaryFolder(t);
  await symlink("/nowhere/at/all", join(directory, nameOf("1")));
  const looks = [new Set<string>(), new Set([idOf("1")])];
  const options = { directory, log: keptLog().log, livingContainers: () => looks.shift() };
  assert.equal(await removeDanglingLinks(options), 0);
  assert.deepEqual([await readdir(directory), looks.length], [[nameOf("1")], 0]);
});

test("the container's id is the last part of the link's name, for any names before it", () => {
  assert.equal(containerIdOf(nameOf("a")), idOf("a"));
  assert.equal(containerIdOf(`web.a_kube-system_my-app-${idOf("b")}.log`), idOf("b"));
  for (const other of [
    "web.log",
    `web-${idOf("a")}.log`,
    `web_default_app-${idOf("a")}.log.gz`,
    `a_b_c-${"f".repeat(63)}.log`,
  ]) {
    assert.equal(containerIdOf(other), undefined, other);
  }
});

test("rounds follow each other, a failed one included, until they are stopped", async (t) => {
  const folder = await temporaryFolder(t);
  const clock = new SteppedClock();
  const kept = keptLog();
  const removed: number[] = [];
  await writeFile(join(folder, "file"), "");
  const rounds = linkLoop({
    // Not a folder: the first round fails.
    directory: join(folder, "file"),
    periodMs: 1000,
    livingContainers: () => new Set<string>(),
    clock,
    log: kept.log,
    removed: (count) => removed.push(count),
  });
  rounds.start(1000);
  assert.equal(clock.pending, 1, "the first round is a period away");
  for (let round = 1; round <= 2; round++) {
    clock.step(1000);
    await until(`round ${round}`, () => kept.warnings().length === round && clock.pending === 1);
  }
  await rounds.stop();
  assert.deepEqual([removed, clock.pending], [[], 0]);
});

test("a round removes a bounded number, the next ones the rest", async (t) => {
  const directory = await temporaryFolder(t);
  for (const digit of ["1", "2", "3"]) await symlink("/nowhere/at/all", join(directory, nameOf(digit)));
  const options = { directory, log: keptLog().log, livingContainers: () => new Set<string>(), most: 2 };
  assert.equal(await removeDanglingLinks(options), 2);
  assert.equal(await removeDanglingLinks(options), 1);
});

test(
  "a link to a mount that does not respond is left alone, and nothing waits for it",
  { skip: !canHang, timeout: 60_000 },
  async (t) => {
    const base = await temporaryFolder(t);
    const mounts = new HungMounts();
    try {
      await mounts.hang(join(base, "hung"));
      const directory = join(base, "containers");
      await mkdir(directory);
      await symlink(join(base, "hung", "0.log"), join(directory, nameOf("1")));
      await symlink("/nowhere/at/all", join(directory, nameOf("2")));
      const options = { directory, log: keptLog().log, livingContainers: () => new Set<string>() };
      assert.equal(await removeDanglingLinks(options), 1);
      assert.deepEqual(await readdir(directory), [nameOf("1")]);
    } finally {
      // Before the folder is removed, which would wait for the mount.
      await mounts.releaseAll();
    }
  },
);
