// A file that its writer and people change at the same moments: the writer replaces its own text, and no other.

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { checkedWrite } from "../../../../src/shared/io/os/checked-write.js";

describe("a file that may only be replaced while it is as its writer knows it", () => {
  let folder: string;
  const path = (): string => join(folder, "below/file");
  const write = (text: string, known: string | undefined): Promise<boolean> =>
    checkedWrite(path(), text, { mode: 0o640, mayReplace: (present) => present === known });
  const text = (): Promise<string | undefined> => readFile(path(), "utf8").catch(() => undefined);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "checked-"));
  });
  after(() => rm(folder, { recursive: true }));

  const CASES: readonly { title: string; present?: string; known?: string; isWritten: boolean }[] = [
    { title: "a new file is made with its folder", isWritten: true },
    { title: "a known file is replaced", present: "known", known: "known", isWritten: true },
    { title: "an edited file stays", present: "edited", known: "known", isWritten: false },
    { title: "a removed file stays away", known: "known", isWritten: false },
    { title: "a file that came first stays", present: "came", isWritten: false },
    { title: "an empty file is not a missing one", present: "", isWritten: false },
  ];
  for (const { title, present, known, isWritten } of CASES) {
    test(title, async () => {
      await rm(join(folder, "below"), { recursive: true, force: true });
      if (present !== undefined) {
        await mkdir(join(folder, "below"));
        await writeFile(path(), present);
      }
      equal(await write("new", known), isWritten);
      equal(await text(), isWritten ? "new" : present);
      if (isWritten) equal((await stat(path())).mode & 0o777, 0o640);
      deepEqual(await readdir(join(folder, "below")), (await text()) === undefined ? [] : ["file"]);
    });
  }

  test("a folder at its path stays, and the error says so", async () => {
    await rm(join(folder, "below"), { recursive: true, force: true });
    await mkdir(path(), { recursive: true });
    await writeFile(join(path(), "inside"), "");
    await rejects(write("new", "known"), /regular file/);
    deepEqual(await readdir(path()), ["inside"]);
    deepEqual(await readdir(join(folder, "below")), ["file"]);
    await rm(path(), { recursive: true });
  });

  test("no edit or removal is written over, at whatever moment it comes", async () => {
    await mkdir(join(folder, "below"), { recursive: true });
    let [edits, isOver] = [0, false];
    const person = async (): Promise<void> => {
      for (; edits < 150; edits++) {
        const edit = join(folder, "edit");
        await writeFile(edit, `edit ${edits}`);
        // Where the last edit or removal was not seen yet, the next one waits.
        while (handled < edits) await new Promise((resolve) => setImmediate(resolve));
        if (edits % 3 === 2) await rm(path(), { force: true });
        else await rename(edit, path());
      }
      isOver = true;
    };
    const seen: (string | undefined)[] = [];
    let handled = 0;
    const writer = async (): Promise<void> => {
      let known = await text();
      for (let version = 0; !isOver || handled < edits; version++) {
        if (await write(`version ${version}`, known)) {
          known = `version ${version}`;
          continue;
        }
        known = await text();
        ok(known === undefined || known.startsWith("edit"), known);
        seen.push(known);
        handled++;
      }
    };
    await Promise.all([person(), writer()]);
    const expected = Array.from({ length: edits }, (_, edit) => (edit % 3 === 2 ? undefined : `edit ${edit}`));
    deepEqual(seen, expected);
  });
});
