import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { endianness, tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import fc from "fast-check";
import { isOsCallError } from "../../../../src/shared/io/os/errors.js";
import { IN, Inotify, parseInotify, type InotifyEvent } from "../../../../src/shared/io/os/inotify.js";

const scratch = await mkdtemp(join(tmpdir(), "nodelet-inotify-"));
after(() => rm(scratch, { recursive: true }));

/** Collects events; `until` waits for them, the runner's time limit is the deadline. */
class Collected {
  readonly events: InotifyEvent[] = [];
  private wake: () => void = () => undefined;
  readonly inotify = new Inotify({
    onEvents: (events) => {
      this.events.push(...events);
      this.wake();
    },
    onError: (error) => {
      throw error;
    },
  });

  async until(met: (events: readonly InotifyEvent[]) => boolean): Promise<void> {
    while (!met(this.events)) await new Promise<void>((resolve) => (this.wake = resolve));
  }
}

describe("inotify", { timeout: 120_000 }, () => {
  test("a file: opened, deleted", async () => {
    const path = join(scratch, "file");
    await writeFile(path, "");
    const collected = new Collected();
    const watch = collected.inotify.watch(path, IN.OPEN | IN.DELETE_SELF);
    await (await open(path)).close();
    await collected.until((events) => events.length >= 1);
    deepEqual(collected.events, [{ watch, mask: IN.OPEN, cookie: 0, name: "" }]);
    await rm(path);
    await collected.until((events) => events.some(({ mask }) => mask === IN.IGNORED));
    deepEqual(
      collected.events.map(({ mask }) => mask),
      [IN.OPEN, IN.DELETE_SELF, IN.IGNORED],
    );
    collected.inotify[Symbol.dispose]();
  });

  test("a directory: more names than one read holds, in order", async () => {
    const collected = new Collected();
    collected.inotify.watch(scratch, IN.CREATE);
    const names = Array.from({ length: 100 }, (_, index) => `${index}-`.padEnd(250, "x"));
    for (const name of names) await writeFile(join(scratch, name), "");
    await collected.until((events) => events.length >= names.length);
    deepEqual(
      collected.events.map(({ name }) => name),
      names,
    );
    collected.inotify[Symbol.dispose]();
  });

  test("a disposed watch reports nothing; a second dispose changes nothing", async () => {
    const path = join(scratch, "quiet");
    await writeFile(path, "");
    const unwatched = new Collected();
    const watched = new Collected();
    unwatched.inotify.watch(path, IN.OPEN);
    watched.inotify.watch(path, IN.OPEN);
    unwatched.inotify[Symbol.dispose]();
    unwatched.inotify[Symbol.dispose]();
    await (await open(path)).close();
    await watched.until((events) => events.length === 1);
    watched.inotify[Symbol.dispose]();
    equal(unwatched.events.length, 0);
  });

  test("a thread that is terminated and a process that exits under events end in order", async () => {
    const path = join(scratch, "busy");
    await writeFile(path, "");
    const script = fileURLToPath(new URL("./fixtures/exit-under-events.js", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [script, path], { timeout: 60_000 });
    deepEqual(JSON.parse(stdout), { code: 1, seen: true });
  });

  test("disposed, no descriptor is left", async () => {
    const descriptors = async (): Promise<number> => (await readdir("/proc/self/fd")).length;
    const before = await descriptors();
    for (let times = 0; times < 20; times++) {
      const { inotify } = new Collected();
      inotify.watch(scratch, IN.CREATE);
      inotify[Symbol.dispose]();
    }
    // One of an earlier test may be closed meanwhile.
    ok((await descriptors()) <= before);
  });

  test("a missing path names call, path and code", () => {
    const { inotify } = new Collected();
    throws(
      () => inotify.watch("/nowhere/at/all", IN.OPEN),
      (error) => {
        ok(isOsCallError(error, "ENOENT"));
        equal(error.call, "inotify_add_watch");
        equal(error.errno, 2);
        return error.message.includes("/nowhere/at/all");
      },
    );
    inotify[Symbol.dispose]();
  });
});

test("parse: any events, written as the kernel writes them, come back", () => {
  const event = fc.record(
    {
      watch: fc.integer({ min: -1, max: 2 ** 31 - 1 }),
      mask: fc.nat(0xffffffff),
      cookie: fc.nat(0xffffffff),
      name: fc.stringMatching(/^[a-zé.]{0,60}$/),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(fc.array(event), (events) => deepEqual(parseInotify(Buffer.concat(events.map(record))), events)),
  );
});

function record(event: InotifyEvent): Uint8Array {
  const name = Buffer.from(event.name);
  const padded = name.length === 0 ? 0 : Math.ceil((name.length + 1) / 16) * 16;
  const bytes = Buffer.alloc(16 + padded);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const little = endianness() === "LE";
  view.setInt32(0, event.watch, little);
  view.setUint32(4, event.mask, little);
  view.setUint32(8, event.cookie, little);
  view.setUint32(12, padded, little);
  name.copy(bytes, 16);
  return bytes;
}
