// The config file and drop-ins on a real folder: the files that are read. Every way of changing them is seen at once.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { SourceReadError } from "../../../../src/main/process/dynamic-config/errors.js";
import { LocalSource } from "../../../../src/main/process/dynamic-config/local-source.js";
import { readLocal } from "../../../../src/main/process/dynamic-config/read-local.js";
import { watchPointsOf } from "../../../../src/main/process/dynamic-config/watch-points.js";
import { keptLog, temporaryFolder, until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const MAX_FILE_BYTES = 1024 * 1024;
const RECHECK_MS = 20_000;

const run = promisify(execFile);

test("reads the file and *.conf below the folder in lexical order, links too; nothing else", async (t) => {
  const root = await temporaryFolder(t);
  const dropIns = join(root, "kubelet.d");
  await mkdir(join(dropIns, "20-sub"), { recursive: true });
  await mkdir(join(dropIns, "..2026_01", "x"), { recursive: true });
  const config = join(root, "kubelet.yaml");
  await writeFile(config, "\uFEFFa: ü\r\n");
  for (const name of ["30.conf", "10.conf", "README", "20-sub/1.conf", "..2026_01/10.conf", "Z.conf", "é.conf"]) {
    await writeFile(join(dropIns, name), name);
  }
  await symlink(join(dropIns, "README"), join(dropIns, "15-link.conf"));
  const files = await readLocal({ config, dropIns });
  assert.deepEqual(files.config, { path: config, text: "\uFEFFa: ü\r\n" });
  const texts = files.dropIns.map(({ text }) => text);
  assert.deepEqual(texts, ["10.conf", "README", "20-sub/1.conf", "30.conf", "Z.conf", "é.conf"]);
  assert.deepEqual(await readLocal({}), { dropIns: [] });
});

test("an unreadable file is refused with path and reason", async (t) => {
  const root = await temporaryFolder(t);
  const path = (name: string): string => join(root, name);
  await mkdir(path("folder"));
  await writeFile(path("latin1"), Buffer.from([0x61, 0xe4]));
  await writeFile(path("large"), Buffer.alloc(MAX_FILE_BYTES + 1, 0x20));
  await run("mkfifo", [path("pipe")]);
  const cases: [string, RegExp][] = [
    ["missing", /it does not exist/],
    ["folder", /not a regular file|EISDIR/],
    ["latin1", /it is not UTF-8/],
    ["large", /larger than/],
    ["pipe", /not a regular file/],
  ];
  for (const [name, why] of cases) {
    await assert.rejects(
      readLocal({ config: path(name) }),
      (error: unknown) => error instanceof SourceReadError && error.path === path(name) && why.test(error.message),
      name,
    );
  }
  for (const dropIns of ["missing", "latin1"]) {
    await assert.rejects(readLocal({ dropIns: path(dropIns) }), SourceReadError);
  }
});

test("watch points: the name, every link on the way, the folders of drop-ins; a missing part waits at its parent", async (t) => {
  const root = await temporaryFolder(t);
  const at = (name: string): string => join(root, name);
  await mkdir(at("mount/..1"), { recursive: true });
  await writeFile(at("mount/..1/kubelet.yaml"), "x");
  await symlink("..1", at("mount/..data"));
  await symlink("..data/kubelet.yaml", at("mount/kubelet.yaml"));
  await symlink("mount", at("alias"));
  const points = await watchPointsOf({ config: at("alias/kubelet.yaml"), dropIns: at("none/kubelet.d") });
  const plain = Object.fromEntries(
    [...points].map(([folder, names]) => [folder, names === "all" ? "all" : [...names].sort()]),
  );
  assert.deepEqual(plain, {
    [root]: ["alias", "none"],
    [at("mount")]: ["..data", "kubelet.yaml"],
    [at("mount/..1")]: ["kubelet.yaml"],
  });
  await symlink("loop", at("loop"));
  assert.deepEqual([...(await watchPointsOf({ config: at("loop") })).keys()], [root]);
});

interface Watching {
  root: string;
  config: string;
  dropIns: string;
  clock: SteppedClock;
  warnings: () => string[];
  /** Resolves when a change was seen after `act`. Virtual time stands still: no periodic look helps. */
  sees: (what: string, act: () => Promise<void>) => Promise<void>;
  calls: () => number;
}

async function watching(t: TestContext, prepare: (root: string) => Promise<void>): Promise<Watching> {
  const root = await temporaryFolder(t);
  await prepare(root);
  const [config, dropIns] = [join(root, "kubelet.yaml"), join(root, "kubelet.d")];
  const clock = new SteppedClock();
  const { log, warnings } = keptLog();
  let calls = 0;
  const source = new LocalSource({ config, dropIns }, clock, log);
  const watch = source.watch(() => calls++);
  t.after(() => watch.stop());
  /**
   * No call for some moments: the watches are in place and earlier changes are reported. A stall of the machine covers
   * one of them only.
   */
  const settled = async (): Promise<void> => {
    for (let quiet = 0; quiet < 3;) {
      const before = calls;
      await new Promise((resolve) => setTimeout(resolve, 50));
      quiet = calls === before ? quiet + 1 : 0;
    }
  };
  const sees = async (what: string, act: () => Promise<void>): Promise<void> => {
    await settled();
    const before = calls;
    await act();
    await until(what, () => calls > before);
  };
  return { root, config, dropIns, clock, warnings, sees, calls: () => calls };
}

const plainSetup = async (root: string): Promise<void> => {
  await mkdir(join(root, "kubelet.d", "sub"), { recursive: true });
  await writeFile(join(root, "kubelet.yaml"), "a: 1\n");
  await writeFile(join(root, "kubelet.d", "10.conf"), "a: 2\n");
};

test("sees writes, editors' renames, removal and return of the file", async (t) => {
  const { config, root, sees, warnings } = await watching(t, plainSetup);
  await sees("a write", () => writeFile(config, "a: 3\n"));
  await sees("the editor's dance", async () => {
    await rename(config, `${config}~`);
    await writeFile(config, "a: 4\n");
    await unlink(`${config}~`);
  });
  await sees("a rename over it", async () => {
    await writeFile(join(root, "new"), "a: 5\n");
    await rename(join(root, "new"), config);
  });
  await sees("removal", () => unlink(config));
  await sees("return", () => writeFile(config, "a: 6\n"));
  await sees("a write after all that", () => writeFile(config, "a: 7\n"));
  assert.deepEqual(warnings(), []);
});

test("sees drop-ins come, change, go, also in folders below and in one that was replaced", async (t) => {
  const { dropIns, root, sees } = await watching(t, plainSetup);
  await sees("a new one", () => writeFile(join(dropIns, "20.conf"), "x"));
  await sees("a change", () => writeFile(join(dropIns, "20.conf"), "y"));
  await sees("one below", () => writeFile(join(dropIns, "sub", "1.conf"), "x"));
  await sees("a new folder", () => mkdir(join(dropIns, "later")));
  await sees("one in the new folder", () => writeFile(join(dropIns, "later", "1.conf"), "x"));
  await sees("removal", () => unlink(join(dropIns, "10.conf")));
  await sees("another folder in its place", async () => {
    await mkdir(join(root, "other"));
    await rename(dropIns, join(root, "old"));
    await rename(join(root, "other"), dropIns);
  });
  await sees("one in the other folder", () => writeFile(join(dropIns, "1.conf"), "x"));
  await sees("removal of the folder", () => rm(dropIns, { recursive: true }));
  await sees("return of the folder", () => mkdir(dropIns));
  await sees("one in the returned folder", () => writeFile(join(dropIns, "1.conf"), "x"));
});

test("sees drop-ins in a folder that was removed and made again at once", async (t) => {
  const { dropIns, sees } = await watching(t, plainSetup);
  for (let i = 0; i < 10; i++) {
    await sees("the new folder", async () => {
      await rm(dropIns, { recursive: true });
      await mkdir(dropIns);
    });
    await sees(`a drop-in, round ${i}`, () => writeFile(join(dropIns, "1.conf"), "x"));
  }
});

test("sees the swap of a mounted ConfigMap, again and again", async (t) => {
  const generation = async (root: string, n: number): Promise<void> => {
    const mount = join(root, "mount");
    await mkdir(join(mount, `..${n}`), { recursive: true });
    await writeFile(join(mount, `..${n}`, "kubelet.yaml"), `a: ${n}\n`);
    await symlink(`..${n}`, join(mount, "..data_tmp"));
    await rename(join(mount, "..data_tmp"), join(mount, "..data"));
    await rm(join(mount, `..${n - 1}`), { recursive: true, force: true });
  };
  const { root, config, sees } = await watching(t, async (folder) => {
    await generation(folder, 1);
    await symlink("..data/kubelet.yaml", join(folder, "mount", "kubelet.yaml"));
    await symlink("mount/kubelet.yaml", join(folder, "kubelet.yaml"));
  });
  for (const n of [2, 3, 4]) await sees(`generation ${n}`, () => generation(root, n));
  assert.equal((await readLocal({ config })).config?.text, "a: 4\n");
});

test("files beside that are none of ours are no change; the periodic look is one", async (t) => {
  const watched = await watching(t, plainSetup);
  await watched.sees("a write", () => writeFile(watched.config, "a: 9\n"));
  await watched.sees("the periodic look, not the noise", async () => {
    const before = watched.calls();
    for (let i = 0; i < 20; i++) await writeFile(join(watched.root, `noise-${i}`), "x");
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(watched.calls(), before);
    watched.clock.step(RECHECK_MS);
  });
});

test("stopped, it holds no timer and calls no more", async (t) => {
  const root = await temporaryFolder(t);
  await plainSetup(root);
  const clock = new SteppedClock();
  let calls = 0;
  const source = new LocalSource({ config: join(root, "kubelet.yaml") }, clock, keptLog().log);
  const watch = source.watch(() => calls++);
  await watch.stop();
  const before = calls;
  await writeFile(join(root, "kubelet.yaml"), "a: 2\n");
  clock.step(2 * RECHECK_MS);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(calls, before);
  assert.equal(clock.pending, 0);
});
