import assert from "node:assert/strict";
import { mkdtemp, open, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { ProjectFiles } from "../../../../src/main/volumes/quotas/project-files.js";
import { VolumeError } from "../../../../src/main/volumes/volume-error.js";
import { monotonicTime } from "../../../../src/shared/base/clock/moments.js";
import { tryFlock } from "../../../../src/shared/io/os/flock.js";

const FIRST = 1_048_577;
const unused = (): Promise<boolean> => Promise.resolve(false);

/** Time passes only while the files wait for a lock. */
async function filesIn(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "nodelet-projects-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const paths = { projects: join(folder, "projects"), projid: join(folder, "projid") };
  let now = 0;
  const onSleep: (() => Promise<void>)[] = [];
  const clock = {
    monotonic: () => monotonicTime(now),
    sleep: async (ms: number) => {
      now += ms;
      await onSleep.shift()?.();
    },
  };
  const texts = async (): Promise<string[]> =>
    Promise.all([readFile(paths.projects, "utf8"), readFile(paths.projid, "utf8")]);
  return { paths, texts, onSleep, files: new ProjectFiles(paths, clock) };
}

test("a directory gets the first project that no file names and no file system uses, and a name; the second call gets the same", async (t) => {
  const { files, paths, texts } = await filesIn(t);
  await writeFile(paths.projects, `# ours\n${FIRST}:/srv/other\n`, { mode: 0o600 });
  await writeFile(paths.projid, `other:${FIRST}\nnamed:${FIRST + 1}\n`);
  const asked: number[] = [];
  const isUsed = (project: number): Promise<boolean> => Promise.resolve(asked.push(project) === 1);
  assert.equal(await files.add("/pods/a:b", isUsed), FIRST + 3);
  assert.deepEqual(asked, [FIRST + 2, FIRST + 3]);
  assert.equal(await files.add("/pods/a:b", isUsed), FIRST + 3);
  assert.deepEqual(await texts(), [
    `# ours\n${FIRST}:/srv/other\n${FIRST + 3}:/pods/a:b\n`,
    `other:${FIRST}\nnamed:${FIRST + 1}\nvolume${FIRST + 3}:${FIRST + 3}\n`,
  ]);
  assert.equal((await stat(paths.projects)).mode & 0o777, 0o600, "the file keeps its mode");
  assert.equal(await files.projectOf("/pods/a:b"), FIRST + 3);
});

test("missing files are made; the last directory of a project takes its name along; removal is idempotent", async (t) => {
  const { files, paths, texts } = await filesIn(t);
  assert.equal(await files.projectOf("/a"), undefined);
  await files.remove("/a");
  await assert.rejects(stat(paths.projects), "a removal makes no file");
  assert.deepEqual([await files.add("/a", unused), await files.add("/b", unused)], [FIRST, FIRST + 1]);
  await writeFile(paths.projects, `${FIRST}:/a\n${FIRST}:/shared\n${FIRST + 1}:/b\n`);
  await files.remove("/a");
  assert.deepEqual((await texts())[1], `volume${FIRST}:${FIRST}\nvolume${FIRST + 1}:${FIRST + 1}\n`);
  await files.remove("/shared");
  await files.remove("/shared");
  assert.deepEqual(await texts(), [`${FIRST + 1}:/b\n`, `volume${FIRST + 1}:${FIRST + 1}\n`]);
});

test("concurrent directories get different projects", async (t) => {
  const { files, texts } = await filesIn(t);
  const projects = await Promise.all(["/a", "/b", "/c"].map((directory) => files.add(directory, unused)));
  assert.deepEqual([...projects].sort(), [FIRST, FIRST + 1, FIRST + 2]);
  assert.equal((await texts())[0]?.trim().split("\n").length, 3);
});

test("a lock of another process delays a change, and after five seconds fails it by the file's name", async (t) => {
  const { files, paths, onSleep } = await filesIn(t);
  await writeFile(paths.projid, "");
  const held = await open(paths.projid);
  assert.ok(tryFlock(held.fd, "the test's lock"));
  onSleep.push(() => held.close());
  assert.equal(await files.add("/a", unused), FIRST);
  const forever = await open(paths.projid);
  t.after(() => forever.close());
  assert.ok(tryFlock(forever.fd, "the test's lock"));
  await assert.rejects(
    files.add("/b", unused),
    (error) => error instanceof VolumeError && error.message.includes(`${paths.projid} is locked`),
  );
});

test("a link in the place of a file is refused, and its target stays as it is", async (t) => {
  const { files, paths } = await filesIn(t);
  const target = `${paths.projects}.target`;
  await writeFile(target, "");
  await symlink(target, paths.projects);
  await assert.rejects(files.add("/a", unused), /ELOOP/);
  assert.equal(await readFile(target, "utf8"), "");
});

test("a file system on which every project is used ends the search", async (t) => {
  const { files } = await filesIn(t);
  await assert.rejects(
    files.add("/a", () => Promise.resolve(true)),
    /128 projects from 1048577 on have files/,
  );
});
