// The store of a node's own API server: what was answered survives a cut at every step of the disk, files are edited by
// hand, and the history is bounded.

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import type { CheckedWriteOptions } from "../../../src/shared/io/os/checked-write.js";
import type { ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import { resourceNamed, RESOURCES } from "../../../src/workers/apiserver/objects/resources.js";
import { MAX_UNLOGGED } from "../../../src/workers/apiserver/store/batch.js";
import { nodeDisk, type Appendable, type Disk } from "../../../src/workers/apiserver/store/disk.js";
import { heapBytes } from "../../../src/workers/apiserver/store/heap-bytes.js";
import { MAX_CHANGES, type Change } from "../../../src/workers/apiserver/store/history.js";
import { pathOf } from "../../../src/workers/apiserver/store/object-file.js";
import { Store } from "../../../src/workers/apiserver/store/store.js";
import { waitFor } from "../../../tools/standalone/wait.js";

const MAPS = resourceNamed("configmaps");
const SECRETS = resourceNamed("secrets");
const folders: string[] = [];
const quiet = { warn: () => undefined };

after(async () => {
  for (const folder of folders) await rm(folder, { recursive: true });
});

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "store-"));
  folders.push(made);
  return made;
}

const open = (directory: string, disk: Disk = nodeDisk, maxLogBytes = 1e9): Promise<Store> =>
  Store.open({ directory, resources: RESOURCES, log: quiet, disk, maxLogBytes });
const map = (name: string, value: string): ApiObject => ({
  ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" } },
  data: { value },
});
const put = (store: Store, object: ApiObject): Promise<ApiObject> => store.change((tx) => tx.put(MAPS, object));
/** A change that has no use after a loss of power. */
const beat = (store: Store, value: string): Promise<ApiObject> =>
  store.change((tx) => tx.put(MAPS, map("beat", value), true));
const remove = (store: Store, name: string): Promise<ApiObject> =>
  store.change((tx) => tx.remove(MAPS, `default/${name}`, tx.get(MAPS, `default/${name}`) ?? map(name, "")));
const valueOf = (store: Store, name: string): unknown =>
  (store.get(MAPS, `default/${name}`)?.["data"] as { value?: string } | undefined)?.value;
const file = (directory: string, name: string): string => join(directory, "objects/configmaps/default", `${name}.json`);

/** A file follows its change's answer. */
const written = (directory: string, name: string, text: string): Promise<true> =>
  waitFor(async () => (await readFile(file(directory, name), "utf8")).includes(text), { what: `${text} in a file` });

class Cut extends Error {}

/** A disk whose power goes at a step: nothing happens after it, and an append is cut in its middle. */
class CutDisk implements Disk {
  steps = 0;
  private readonly opened: Appendable[] = [];

  constructor(private readonly cutAt: number) {}

  async open(path: string): Promise<Appendable> {
    const opened = await nodeDisk.open(path);
    this.opened.push(opened);
    return {
      appendFile: (text) =>
        this.step(
          () => opened.appendFile(text),
          () => opened.appendFile(text.slice(0, text.length / 2)),
        ),
      datasync: () => this.step(() => opened.datasync()),
      truncate: (bytes) => this.step(() => opened.truncate(bytes)),
      close: () => Promise.resolve(),
    };
  }

  /** The process is gone, with all that it held open. */
  async end(): Promise<void> {
    for (const opened of this.opened) await opened.close();
  }

  replace(path: string, text: string, mode: number): Promise<void> {
    return this.step(() => nodeDisk.replace(path, text, mode));
  }

  async replaceIf(path: string, text: string, options: CheckedWriteOptions): Promise<boolean> {
    let isReplaced = false;
    await this.step(async () => {
      isReplaced = await nodeDisk.replaceIf(path, text, options);
    });
    return isReplaced;
  }

  remove(path: string): Promise<void> {
    return this.step(() => nodeDisk.remove(path));
  }

  read(path: string): Promise<string | undefined> {
    return nodeDisk.read(path);
  }

  files(path: string): Promise<string[]> {
    return nodeDisk.files(path);
  }

  private async step(work: () => Promise<void>, half: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    this.steps++;
    if (this.steps < this.cutAt) return work();
    if (this.steps === this.cutAt) await half();
    throw new Cut("the power is gone");
  }
}

/** Changes as a client sends them. @returns the value of each object that was answered; undefined: its end was */
async function changes(store: Store): Promise<{ answered: Map<string, string | undefined>; unknown: Set<string> }> {
  const answered = new Map<string, string | undefined>();
  const unknown = new Set<string>();
  const note = async (name: string, value: string | undefined): Promise<void> => {
    try {
      await (value === undefined ? remove(store, name) : put(store, map(name, value)));
      answered.set(name, value);
    } catch {
      unknown.add(name);
    }
  };
  await note("a", "1");
  await Promise.all([note("b", "1"), note("c", "1"), note("a", "2")]);
  for (let at = 0; at < 3; at++) await beat(store, `${at}`).catch(() => undefined);
  await note("c", undefined);
  await note("b", "2");
  await note("d", "1");
  await note("c", "2");
  return { answered, unknown };
}

describe("the store", () => {
  test("what was answered is there after a cut at every step, and nothing is half there", async () => {
    let finished = false;
    for (let cutAt = 1; !finished; cutAt++) {
      const directory = await folder();
      const disk = new CutDisk(cutAt);
      let seen: Awaited<ReturnType<typeof changes>> = { answered: new Map(), unknown: new Set() };
      let revision = 0;
      try {
        // Small enough for logs to be begun anew in between.
        const store = await open(directory, disk, 600);
        seen = await changes(store);
        ({ revision } = store);
        await store.close();
      } catch (error) {
        ok(error instanceof Cut, String(error));
      }
      finished = disk.steps < cutAt;
      await disk.end();
      const again = await open(directory);
      for (const [name, value] of seen.answered) {
        if (!seen.unknown.has(name)) equal(valueOf(again, name), value, `${name} after a cut at step ${cutAt}`);
      }
      ok(again.revision > revision, `the revision after a cut at step ${cutAt}`);
      await again.close();
      ok(cutAt < 500);
    }
  });

  test("an object that another one's cut left behind is read from its last version", async () => {
    const directory = await folder();
    const store = await open(directory);
    await put(store, map("kept", "1"));
    await store.close();
    const disk = new CutDisk(1e9);
    const second = await open(directory, disk);
    // The log has version 2; its file is never written.
    disk.replaceIf = () => Promise.reject(new Cut("no"));
    await put(second, map("kept", "2"));
    const third = await open(directory);
    equal(valueOf(third, "kept"), "2");
    await third.close();
    await disk.end();
  });

  test("fleeting changes are seen and not written, but for one in sixty-five; a stop writes the last one", async () => {
    const directory = await folder();
    const disk = new CutDisk(1e9);
    const store = await open(directory, disk);
    await put(store, map("beat", "first"));
    await written(directory, "beat", "first");
    const before = disk.steps;
    const seen: Change[] = [];
    store.subscribe(MAPS, (change) => seen.push(change));
    for (let at = 0; at < 2 * (MAX_UNLOGGED + 1); at++) await beat(store, `${at}`);
    equal(disk.steps - before, 4, "two lines, each of them synced");
    equal(seen.length, 2 * (MAX_UNLOGGED + 1));
    match(await readFile(file(directory, "beat"), "utf8"), /"value": "first"/);
    await store.close();
    await disk.end();
    const again = await open(directory);
    equal(valueOf(again, "beat"), `${2 * MAX_UNLOGGED + 1}`);
    ok(again.revision > store.revision);
    await again.close();
  });

  test("a lasting change of an object is written, and has the fleeting ones before it", async () => {
    const directory = await folder();
    const disk = new CutDisk(1e9);
    const store = await open(directory, disk);
    await put(store, map("beat", "first"));
    await written(directory, "beat", "first");
    await beat(store, "second");
    await store.change((tx) => tx.put(MAPS, { ...map("beat", "second"), kept: "yes" }));
    await written(directory, "beat", "second");
    await beat(store, "third");
    await disk.end();
    const again = await open(directory);
    equal(valueOf(again, "beat"), "second");
    ok(again.revision > store.revision, "no revision is given twice");
    await again.close();
  });

  test("files are readable, and one that is edited while no server runs is the next version", async () => {
    const directory = await folder();
    const store = await open(directory);
    const { metadata } = await put(store, map("edited", "1"));
    await put(store, map("gone", "1"));
    await store.change((tx) =>
      tx.put(SECRETS, { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "default" } }),
    );
    await store.close();
    equal((await stat(join(directory, "objects/secrets/default/s.json"))).mode & 0o777, 0o600);
    const text = await readFile(file(directory, "edited"), "utf8");
    ok(text.includes('\n  "data": {\n    "value": "1"\n'));
    await writeFile(file(directory, "edited"), text.replace('"value": "1"', '"value": "by hand"'));
    await writeFile(file(directory, "new"), JSON.stringify(map("new", "by hand")));
    await writeFile(file(directory, "broken"), "{");
    await rm(file(directory, "gone"));
    const again = await open(directory);
    equal(valueOf(again, "edited"), "by hand");
    ok(Number(again.get(MAPS, "default/edited")?.metadata.resourceVersion) > Number(metadata.resourceVersion));
    equal(valueOf(again, "new"), "by hand");
    equal(again.get(MAPS, "default/gone"), undefined);
    equal(again.get(MAPS, "default/broken"), undefined);
    await again.close();
  });

  test("a file that is edited after a crash gets a version that no fleeting change had", async () => {
    const directory = await folder();
    const disk = new CutDisk(1e9);
    const store = await open(directory, disk);
    await put(store, map("edited", "1"));
    await put(store, map("beat", "first"));
    await written(directory, "beat", "first");
    for (let at = 0; at < 5; at++) await beat(store, `${at}`);
    await disk.end();
    await writeFile(file(directory, "edited"), JSON.stringify(map("edited", "by hand")));
    const again = await open(directory);
    equal(valueOf(again, "edited"), "by hand");
    const version = Number(again.get(MAPS, "default/edited")?.metadata.resourceVersion);
    ok(version > store.revision, `${version} is that of a fleeting change, the last one is ${store.revision}`);
    ok(again.revision > version);
    await again.close();
  });

  test("a change that throws changes nothing, and its neighbours are made", async () => {
    const store = await open(await folder());
    const failing = store.change((tx) => {
      tx.put(MAPS, map("half", "1"));
      throw new Error("refused");
    });
    const good = put(store, map("good", "1"));
    await rejects(failing, /refused/);
    await good;
    equal(store.get(MAPS, "default/half"), undefined);
    equal(valueOf(store, "good"), "1");
    await store.close();
  });

  test("a failed write refuses the change, and the next one is kept again", async () => {
    const directory = await folder();
    const disk = new CutDisk(1e9);
    const real = disk.open.bind(disk);
    let fails = false;
    disk.open = async (path) => {
      const opened = await real(path);
      return {
        ...opened,
        appendFile: (text) => (fails ? Promise.reject(new Error("ENOSPC")) : opened.appendFile(text)),
      };
    };
    const store = await open(directory, disk);
    fails = true;
    await rejects(put(store, map("lost", "1")), /could not be written/);
    equal(store.get(MAPS, "default/lost"), undefined);
    fails = false;
    await put(store, map("kept", "1"));
    await store.close();
    await disk.end();
    const again = await open(directory);
    deepEqual([valueOf(again, "kept"), valueOf(again, "lost")], ["1", undefined]);
    await again.close();
  });

  test("watchers see each change in order, after it is kept; old versions are gone", async () => {
    const store = await open(await folder());
    const seen: Change[] = [];
    const release = store.subscribe(MAPS, (change) => seen.push(change));
    const start = store.revision;
    await Promise.all([put(store, map("a", "1")), put(store, map("a", "2")), remove(store, "a")]);
    release();
    deepEqual(
      seen.map(({ type }) => type),
      ["ADDED", "MODIFIED", "DELETED"],
    );
    deepEqual(store.since(MAPS, start), seen);
    equal(store.entriesAt(MAPS, start + 1)[0]?.[1].metadata.name, "a");
    for (let round = 0; round < MAX_CHANGES / 256 + 1; round++) {
      await store.change((tx) => {
        for (let at = 0; at < 256; at++) tx.put(MAPS, map("many", `${round}.${at}`));
      });
    }
    ok(store.compacted > start);
    ok(store.since(MAPS, 0).length <= MAX_CHANGES);
    await store.close();
  });

  test("a damaged log is set aside by its line, and the files count", async () => {
    const directory = await folder();
    const store = await open(directory);
    await put(store, map("kept", "1"));
    await store.close();
    await writeFile(join(directory, "changes.log"), "garbage\n");
    const again = await open(directory);
    equal(valueOf(again, "kept"), "1");
    await again.close();
  });

  test("an object that JSON cannot have is refused alone, and the store goes on", async () => {
    const store = await open(await folder());
    const deep: unknown = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    const bad = [deep, cyclic].map((data) => put(store, { ...map("bad", "1"), data }));
    const good = put(store, map("good", "1"));
    for (const one of bad) await rejects(one);
    await good;
    await put(store, map("later", "1"));
    deepEqual([valueOf(store, "good"), valueOf(store, "later")], ["1", "1"]);
    equal(store.get(MAPS, "default/bad"), undefined);
    await store.close();
  });

  test("a listener that throws keeps neither the change nor its neighbours from happening", async () => {
    const store = await open(await folder());
    store.subscribe(MAPS, () => {
      throw new Error("broken");
    });
    const seen: Change[] = [];
    store.subscribe(MAPS, (change) => seen.push(change));
    await Promise.all([put(store, map("a", "1")), put(store, map("b", "1"))]);
    await put(store, map("c", "1"));
    equal(seen.length, 3);
    await store.close();
  });

  test("a full store takes small growth and deletions, and no new or large object", async () => {
    const directory = await folder();
    const full = (): Promise<Store> =>
      Store.open({ directory, resources: RESOURCES, log: quiet, maxLogBytes: 1e9, maxBytes: 100_000 });
    const store = await full();
    await put(store, map("a", "x".repeat(90_000)));
    await rejects(put(store, map("b", "x".repeat(20_000))), /keeps at most/);
    await put(store, map("a", "x".repeat(101_000)));
    await rejects(put(store, map("b", "1")), /keeps at most/);
    await rejects(put(store, map("a", "x".repeat(124_990))), /keeps at most/);
    await put(store, map("a", "y".repeat(100_500)));
    await store.close();
    const again = await full();
    await rejects(put(again, map("b", "1")), /keeps at most/);
    await remove(again, "a");
    await put(again, map("b", "1"));
    await again.close();
  });

  test("small values count by what they take in memory", async () => {
    const store = await open(await folder());
    const lists = { ...map("lists", "1"), data: Array(400_000).fill([]) as unknown[] };
    for (let at = 0; at < 3; at++) await put(store, { ...lists, metadata: { name: `l${at}`, namespace: "default" } });
    await rejects(put(store, { ...lists, metadata: { name: "l3", namespace: "default" } }), /keeps at most 96 MiB/);
    await store.close();
    equal(heapBytes('{"a":"x,{[\\"","b":[{},1]}'), 25 + 5 * 40);
  });

  test("two names that are cut alike have a file each", async () => {
    const directory = await folder();
    const store = await open(directory);
    const long = "n".repeat(240);
    await put(store, map(long, "long"));
    const cut = basename(pathOf(MAPS, map(long, "long")), ".json");
    ok(cut.length < long.length);
    // With the characters that a name may have.
    for (const name of [cut.replace("~", "-"), cut.replace("~", ".")]) await put(store, map(name, "other"));
    await store.close();
    const again = await open(directory);
    equal(valueOf(again, long), "long");
    await again.close();
  });

  test("a file whose object has a name or namespace that is none is left out", async () => {
    const directory = await folder();
    await (await open(directory)).close();
    const base = join(directory, "objects/configmaps");
    const typed = { ...map("typed", "1"), data: { a: 5 } };
    await mkdir(join(base, "default"), { recursive: true });
    await writeFile(join(base, "default/typed.json"), JSON.stringify(typed));
    const rows: [path: string, metadata: object][] = [
      ["default/a/b.json", { name: "a/b", namespace: "default" }],
      ["default/A_.json", { name: "A_", namespace: "default" }],
      ["default/c/d.json", { name: "d", namespace: "default/c" }],
      ["_/e.json", { name: "e" }],
    ];
    for (const [path, metadata] of rows) {
      await mkdir(dirname(join(base, path)), { recursive: true });
      await writeFile(join(base, path), JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata }));
    }
    await writeFile(join(directory, "elsewhere.json"), JSON.stringify(map("link", "1")));
    await symlink(join(directory, "elsewhere.json"), join(base, "default/link.json"));
    const store = await open(directory);
    deepEqual(store.entries(MAPS), []);
    await store.close();
  });

  test("lines of the log that no server wrote are left out with those behind them", async () => {
    const directory = await folder();
    const first = '{"version":1,"revision":5,"files":{}}';
    const bad = [
      '{"revision":6,"path":"configmaps/../../../out.json","object":{"metadata":{"name":"out"}}}',
      '{"revision":6,"path":"configmaps/default/a.json","object":5}',
      '{"revision":6,"path":"configmaps/default/a.json","object":{}}',
      '{"revision":1e300,"path":"configmaps/default/a.json"}',
      '{"revision":6}',
      "[]",
      "null",
    ];
    const heads = ['{"version":1,"revision":5,"files":null}', '{"version":1,"revision":1e300,"files":{}}', "{}", "0"];
    for (const lines of [...bad.map((line) => [first, line]), ...heads.map((head) => [head])]) {
      await writeFile(join(directory, "changes.log"), `${lines.join("\n")}\n`);
      const store = await open(directory);
      deepEqual(store.entries(MAPS), []);
      ok(Number.isSafeInteger(store.revision));
      await put(store, map("kept", "1"));
      await remove(store, "kept");
      await store.close();
    }
    await rejects(stat(join(directory, "../../out.json")));
  });
});
