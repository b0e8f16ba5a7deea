// What the store of a node's own API server syncs, so that a loss of power takes nothing and brings nothing back.

import { deepEqual, ok } from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test, type TestContext } from "node:test";
import type { ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import { resourceNamed, RESOURCES } from "../../../src/workers/apiserver/objects/resources.js";
import { nodeDisk, type Disk } from "../../../src/workers/apiserver/store/disk.js";
import { Store } from "../../../src/workers/apiserver/store/store.js";
import { recordSyncs } from "../../support/recorded-syncs.js";

const MAPS = resourceNamed("configmaps");
const folders: string[] = [];

after(async () => {
  for (const folder of folders) await rm(folder, { recursive: true });
});

async function folder(): Promise<string> {
  const made = await realpath(await mkdtemp(join(tmpdir(), "store-syncs-")));
  folders.push(made);
  return made;
}

const open = (directory: string, disk: Disk = nodeDisk): Promise<Store> =>
  Store.open({ directory, resources: RESOURCES, log: { warn: () => undefined }, disk });

const one: ApiObject = {
  ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "one", namespace: "default" } },
  data: { value: "1" },
};
const FILE = "objects/configmaps/default/one.json";

/** A disk that notes each new log. */
function noting(notes: string[]): Disk {
  return {
    ...nodeDisk,
    async replace(path, text, mode) {
      await nodeDisk.replace(path, text, mode);
      if (path.endsWith("changes.log")) notes.push("log");
    },
  };
}

describe("syncs of the store", () => {
  test("the entry of each folder that a new store makes is synced before a change is answered", async (t) => {
    const root = await folder();
    const synced: string[] = [];
    await recordSyncs(t, (path) => void synced.push(path));
    const store = await open(join(root, "api/store"));
    for (const above of ["", "/api", "/api/store"])
      ok(synced.includes(`${root}${above}`), `${above} of ${synced.join()}`);
    await store.close();
  });

  for (const isGone of [false, true]) {
    const what = isGone ? "a file that was removed by hand" : "the file of a removed object";
    test(`the folder of ${what} is synced before a new log begins`, async (t) => {
      deepEqual(await syncsOfRemoval(t, isGone), ["folder without the file", "log"]);
    });
  }
});

/** What happens after the removal of an object, up to the next log. */
async function syncsOfRemoval(t: TestContext, isGone: boolean): Promise<string[]> {
  const directory = await folder();
  const notes: string[] = [];
  const first = await open(directory);
  await first.change((tx) => tx.put(MAPS, one));
  // Its end waits for all writes: none is under way when syncs are recorded.
  await first.close();
  const store = await open(directory, noting(notes));
  ok(existsSync(join(directory, FILE)));
  if (isGone) await rm(join(directory, FILE));
  notes.length = 0;
  await recordSyncs(t, (path) => {
    if (path === join(directory, FILE, ".."))
      notes.push(existsSync(join(directory, FILE)) ? "folder with the file" : "folder without the file");
  });
  await store.change((tx) => tx.remove(MAPS, "default/one", one));
  await store.close();
  return notes;
}
