import { deepEqual, equal, match } from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { setMaxOpenFiles } from "../../../../src/main/process/unix/process-limits.js";
import { OsCallError } from "../../../../src/shared/io/os/errors.js";
import { openFilesLimit, setOpenFilesLimit, type Rlimit } from "../../../../src/shared/io/os/rlimit.js";
import type { Logger } from "../../../../src/shared/telemetry/log/logger.js";

function warnings(): { texts: string[]; log: Pick<Logger, "warn"> } {
  const texts: string[] = [];
  const warn = (_fields: unknown, text: string): void => void texts.push(text);
  return { texts, log: { warn } as unknown as Pick<Logger, "warn"> };
}

describe("limit of open files at start", () => {
  // A kernel that lets an unprivileged process do what prlimit(2) says it may.
  const table: [string, Rlimit, boolean, number, Rlimit, number][] = [
    ["below hard", { soft: 1024, hard: 4096 }, false, 2000, { soft: 2000, hard: 4096 }, 0],
    ["lower than now: hard stays", { soft: 4096, hard: 4096 }, false, 1000, { soft: 1000, hard: 4096 }, 0],
    ["above hard, allowed", { soft: 1024, hard: 4096 }, true, 1e6, { soft: 1e6, hard: 1e6 }, 0],
    ["above hard, refused", { soft: 1024, hard: 4096 }, false, 1e6, { soft: 4096, hard: 4096 }, 1],
    ["unlimited hard", { soft: 1024, hard: Infinity }, false, 1e6, { soft: 1e6, hard: Infinity }, 0],
  ];
  for (const [name, before, capable, limit, expected, lines] of table) {
    test(name, () => {
      let now = before;
      const { texts, log } = warnings();
      const inForce = setMaxOpenFiles(limit, log, {
        get: () => now,
        set: (wanted) => {
          if (wanted.hard > now.hard && !capable) throw new OsCallError("prlimit", 1, "the limit of open files");
          now = wanted;
        },
      });
      deepEqual(now, expected);
      equal(inForce, expected.soft);
      equal(texts.length, lines);
    });
  }

  test("a machine where nothing can be read causes no error", () => {
    const { texts, log } = warnings();
    const refuse = (): never => {
      throw new OsCallError("prlimit", 38, "the limit of open files");
    };
    equal(setMaxOpenFiles(10, log, { get: refuse, set: refuse }), undefined);
    deepEqual(
      texts.map((text) => text.includes("stays as it was")),
      [true],
    );
  });

  test("the real kernel: set, and refused above fs.nr_open", async () => {
    const before = openFilesLimit();
    const most = Number(await readFile("/proc/sys/fs/nr_open", "utf8"));
    const { texts, log } = warnings();
    try {
      equal(setMaxOpenFiles(before.hard - 1, log), before.hard - 1);
      deepEqual(openFilesLimit(), { soft: before.hard - 1, hard: before.hard });
      deepEqual(texts, []);
      equal(setMaxOpenFiles(most + 1, log), before.hard);
      deepEqual(openFilesLimit(), { soft: before.hard, hard: before.hard });
      match(texts.join(), /continues with \d.*maxOpenFiles/);
    } finally {
      setOpenFilesLimit(before);
    }
  });
});
