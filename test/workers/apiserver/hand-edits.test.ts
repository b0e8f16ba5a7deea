// Files of objects that people change while the server runs: what counts, what is set aside, and what watches see.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { access, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { furnish, serverContext } from "../../../src/workers/apiserver/furnish.js";
import { HandEdits } from "../../../src/workers/apiserver/hand-edits.js";
import { fieldsAt, type ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import { resourceNamed, RESOURCES } from "../../../src/workers/apiserver/objects/resources.js";
import { nodeDisk, type Disk } from "../../../src/workers/apiserver/store/disk.js";
import { Store, type StoreOptions } from "../../../src/workers/apiserver/store/store.js";
import { createObject } from "../../../src/workers/apiserver/verbs/create.js";
import { waitFor } from "../../../tools/standalone/wait.js";
import { ApiPort } from "./api-port-kit.js";

const MAPS = "/api/v1/namespaces/default/configmaps";
const map = (name: string, value = "1", more: object = {}): object => ({
  ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { value }, ...more },
});
const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Ways in which editors write a file. */
const EDITORS: Readonly<Record<string, (path: string, text: string) => Promise<void>>> = {
  "in place": (path, text) => writeFile(path, text),
  "by a new file over the old one": async (path, text) => {
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  },
  "with the old one moved away first": async (path, text) => {
    await rename(path, `${path}~`);
    await writeFile(path, text);
    await rm(`${path}~`);
  },
};

/** The value of a map of a store. */
function valueIn(store: Store, name: string): string | undefined {
  const object = store.get(resourceNamed("configmaps"), `default/${name}`);
  return (object?.["data"] as { value?: string } | undefined)?.value;
}

/** A store with maps, and a look at their files. */
class KeptMaps implements AsyncDisposable {
  private constructor(
    private readonly directory: string,
    readonly options: StoreOptions,
    readonly store: Store,
    readonly edits: HandEdits,
    readonly warnings: readonly string[],
  ) {}

  static async open(names: readonly string[], disk: Disk = nodeDisk): Promise<KeptMaps> {
    const directory = await mkdtemp(join(tmpdir(), "kept-maps-"));
    const warnings: string[] = [];
    const warn = (_: unknown, text?: string): void => void warnings.push(text ?? "");
    const options = { directory, resources: RESOURCES, log: { warn }, disk };
    const store = await Store.open(options);
    const world = { store, clock: systemClock, nodeName: "node-1", volumesDir: directory };
    await furnish(world);
    const edits = new HandEdits(world, { warn, info: () => undefined });
    await edits.start();
    const context = { resource: resourceNamed("configmaps"), namespace: "default" };
    const kept = new KeptMaps(directory, options, store, edits, warnings);
    for (const name of names) {
      await store.change((tx) => createObject({ ...context, name }, map(name) as ApiObject, serverContext(world, tx)));
      await waitFor(() => isThere(kept.path(name)), { what: `the file of ${name}` });
    }
    return kept;
  }

  path(name: string): string {
    return join(this.store.files.folder, "configmaps/default", `${name}.json`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true });
  }
}

describe("files of objects that are changed by hand", () => {
  let api: ApiPort;
  let admin: { cert: string; key: string };
  let folder: string;
  const file = (name: string): string => join(folder, "configmaps/default", `${name}.json`);
  const get = async (path: string): Promise<{ status: number; object: ApiObject; value: unknown }> => {
    const { status, text } = await api.ask(admin, "GET", path);
    const object = JSON.parse(text) as ApiObject & { data?: { value?: string } };
    return { status, object, value: object.data?.value };
  };
  const create = async (body: object): Promise<void> => equal((await api.ask(admin, "POST", MAPS, body)).status, 201);
  const becomes = (name: string, value: string): Promise<true> =>
    waitFor(async () => (await get(`${MAPS}/${name}`)).value === value, { what: `${value} in ${name}` });
  const written = (name: string): Promise<true> => waitFor(() => isThere(file(name)), { what: `the file of ${name}` });

  before(async () => {
    api = await ApiPort.open();
    admin = await api.client("admin");
    folder = join(api.files.store, "objects");
    await mkdir(join(folder, "configmaps/default"), { recursive: true });
  });
  after(async () => {
    await api[Symbol.asyncDispose]();
  });

  test("a renewal of a lease is not written, and an edit by hand counts beside it", async () => {
    const all = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    const path = join(folder, "leases.coordination.k8s.io/kube-node-lease/mine.json");
    const lease = (renewTime: string): object => ({
      ...{ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "mine" } },
      spec: { holderIdentity: "mine", leaseDurationSeconds: 40, renewTime },
    });
    const first = await api.ask(admin, "POST", all, lease("2026-11-30T10:00:00.000000Z"));
    equal(first.status, 201, first.text);
    await waitFor(() => isThere(path), { what: "the lease's file" });
    const text = await readFile(path, "utf8");
    const { metadata } = (await get(`${all}/mine`)).object;
    const renewed = await api.ask(admin, "PUT", `${all}/mine`, { ...lease("2026-11-30T10:00:10.000000Z"), metadata });
    equal(renewed.status, 200, renewed.text);
    // A change that is written comes after it: the files are up to date then.
    await create(map("after-a-renewal"));
    await written("after-a-renewal");
    equal(await readFile(path, "utf8"), text);
    await writeFile(path, text.replace('"leaseDurationSeconds": 40', '"leaseDurationSeconds": 90'));
    const duration = async (): Promise<unknown> =>
      fieldsAt((await get(`${all}/mine`)).object, "spec")["leaseDurationSeconds"];
    await waitFor(async () => (await duration()) === 90, { what: "the edit to count" });
  });

  for (const [how, edit] of Object.entries(EDITORS)) {
    test(`an edit ${how} is one change, and the file gets its version`, async () => {
      const name = how.replaceAll(" ", "-");
      await create(map(name));
      await written(name);
      const { object } = await get(`${MAPS}/${name}`);
      const text = await readFile(file(name), "utf8");
      await edit(file(name), text.replace('"value": "1"', '"value": "by hand"'));
      await becomes(name, "by hand");
      const { metadata } = (await get(`${MAPS}/${name}`)).object;
      equal(metadata.uid, object.metadata.uid);
      equal(Number(metadata.resourceVersion), Number(object.metadata.resourceVersion) + 1);
      const version = `"resourceVersion": "${metadata.resourceVersion ?? ""}"`;
      await waitFor(async () => (await readFile(file(name), "utf8")).includes(version), { what: "the new version" });
    });
  }

  test("watches see a file that comes, changes and goes", async () => {
    const { metadata } = (await get(MAPS)).object;
    const query = `watch=1&resourceVersion=${metadata.resourceVersion ?? ""}&fieldSelector=metadata.name%3Dseen`;
    const socket = api.connect(admin);
    let seen = "";
    socket.on("data", (part: Buffer) => (seen += part.toString())).on("error", () => undefined);
    socket.write(`GET ${MAPS}?${query} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    const types = (): string[] => [...seen.matchAll(/"type":"([A-Z]+)"/g)].map(([, type = ""]) => type);
    // Its folder says the namespace.
    await writeFile(file("seen"), JSON.stringify(map("seen")));
    await becomes("seen", "1");
    await waitFor(async () => (await readFile(file("seen"), "utf8")).includes('"uid"'), { what: "the object's file" });
    await writeFile(file("seen"), JSON.stringify(map("seen", "2")));
    await becomes("seen", "2");
    await waitFor(async () => (await readFile(file("seen"), "utf8")).includes('"value": "2"'), { what: "its version" });
    await rm(file("seen"));
    await waitFor(async () => (await get(`${MAPS}/seen`)).status === 404, { what: "the end" });
    await waitFor(() => types().length === 3, { what: "three events" });
    deepEqual(types(), ["ADDED", "MODIFIED", "DELETED"]);
    socket.destroy();
  });

  test("a folder that is moved away takes its objects along, and brings them back", async () => {
    await api.ask(admin, "POST", "/api/v1/namespaces", { metadata: { name: "moved" } });
    const path = "/api/v1/namespaces/moved/configmaps";
    equal((await api.ask(admin, "POST", path, map("one"))).status, 201);
    const [there, away] = [join(folder, "configmaps/moved"), join(api.files.store, "away")];
    await waitFor(() => isThere(join(there, "one.json")), { what: "the file" });
    await rename(there, away);
    await waitFor(async () => (await get(`${path}/one`)).status === 404, { what: "the end" });
    await rm(there, { recursive: true, force: true });
    await rename(away, there);
    await waitFor(async () => (await get(`${path}/one`)).value === "1", { what: "the object" });
  });

  test("a write in two halves is read whole", async () => {
    await create(map("torn"));
    await written("torn");
    const text = JSON.stringify(map("torn", "whole"));
    const half = text.slice(0, text.length / 2);
    await writeFile(file("torn"), half);
    // Longer than a file needs to settle.
    await new Promise((resolve) => setTimeout(resolve, 600));
    await writeFile(file("torn"), text.slice(half.length), { flag: "a" });
    await becomes("torn", "whole");
    ok(!(await isThere(`${file("torn")}.rejected`)));
  });

  test("a text that is no object of this file, or breaks a rule, is set aside, and the object stays", async () => {
    await create(map("fixed", "1", { immutable: true }));
    await written("fixed");
    const before = (await get(`${MAPS}/fixed`)).object;
    for (const text of [
      "{",
      "[]",
      JSON.stringify(map("other")),
      JSON.stringify({ ...map("fixed"), kind: "Secret" }),
      JSON.stringify(map("fixed", "2", { immutable: true })),
      JSON.stringify({ ...map("fixed"), metadata: { name: "fixed", uid: "another" } }),
    ]) {
      await writeFile(file("fixed"), text);
      const kept = (): Promise<string> => readFile(`${file("fixed")}.rejected`, "utf8").catch(() => "");
      await waitFor(async () => (await kept()) === text, { what: `the refusal of ${text}` });
      const own = `"uid": "${before.metadata.uid ?? ""}"`;
      await waitFor(async () => (await readFile(file("fixed"), "utf8")).includes(own), { what: "the object's file" });
      deepEqual((await get(`${MAPS}/fixed`)).object, before);
    }
    const bad = join(folder, "pods/default/bad.json");
    await mkdir(join(folder, "pods/default"), { recursive: true });
    await writeFile(bad, JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "bad" }, spec: {} }));
    await waitFor(() => isThere(`${bad}.rejected`), { what: "the refusal" });
    await waitFor(async () => !(await isThere(bad)), { what: "the end of the file" });
    match(api.warnings.join("\n"), /bad\.json[^]*spec\.containers[^]*the object stays as it was/);
  });

  test("a file that is broken at a stop is set aside, and the next start has the object", async () => {
    await using kept = await KeptMaps.open(["broken", "good"]);
    const { store, options, edits } = kept;
    const path = (name: string): string => kept.path(name);
    await writeFile(path("broken"), "{");
    await writeFile(path("good"), JSON.stringify(map("good", "2")));
    // The change of the second file shows that the first one was seen.
    await waitFor(() => valueIn(store, "good") === "2", { what: "the second edit" });
    await edits.close();
    await store.close();
    equal(await readFile(`${path("broken")}.rejected`, "utf8"), "{");
    const again = await Store.open(options);
    deepEqual([valueIn(again, "broken"), valueIn(again, "good")], ["1", "2"]);
    await again.close();
  });

  test("an edit that the disk does not give counts later, with one warning", async () => {
    let refused = 0;
    const disk: Disk = {
      ...nodeDisk,
      read(path) {
        if (!path.endsWith("late.json") || refused === 2) return nodeDisk.read(path);
        refused++;
        return Promise.reject(Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" }));
      },
    };
    await using kept = await KeptMaps.open(["late"], disk);
    await writeFile(kept.path("late"), JSON.stringify(map("late", "2")));
    await waitFor(() => valueIn(kept.store, "late") === "2", { what: "the edit to count" });
    equal(refused, 2);
    deepEqual(kept.warnings, ["the file of an object was not read: EIO: i/o error, read"]);
    await kept.edits.close();
    await kept.store.close();
  });

  test("a removal counts though the object changes before it is seen", async () => {
    await create(map("removed"));
    await written("removed");
    await rm(file("removed"));
    for (const value of ["2", "3"])
      equal((await api.ask(admin, "PUT", `${MAPS}/removed`, map("removed", value))).status, 200);
    await waitFor(async () => (await get(`${MAPS}/removed`)).status === 404, { what: "the end" });
  });

  for (const [how, edit] of Object.entries(EDITORS)) {
    test(`an edit ${how} counts though the object changes before it is seen`, async () => {
      const name = `beside-${how.replaceAll(" ", "-")}`;
      await create(map(name));
      await written(name);
      const text = await readFile(file(name), "utf8");
      await edit(file(name), text.replace('"value": "1"', '"value": "by hand"'));
      for (const value of ["2", "3"])
        equal((await api.ask(admin, "PUT", `${MAPS}/${name}`, map(name, value))).status, 200);
      await becomes(name, "by hand");
      const { metadata } = (await get(`${MAPS}/${name}`)).object;
      const version = `"resourceVersion": "${metadata.resourceVersion ?? ""}"`;
      await waitFor(async () => (await readFile(file(name), "utf8")).includes(version), { what: "the new version" });
    });
  }

  test("an edit that is taken back leaves the object, whose file follows", async () => {
    await create(map("unchanged"));
    await written("unchanged");
    const text = await readFile(file("unchanged"), "utf8");
    await writeFile(file("unchanged"), "{");
    equal((await api.ask(admin, "PUT", `${MAPS}/unchanged`, map("unchanged", "2"))).status, 200);
    await writeFile(file("unchanged"), text);
    await waitFor(async () => (await readFile(file("unchanged"), "utf8")).includes('"2"'), {
      what: "the object's file",
    });
    equal((await get(`${MAPS}/unchanged`)).value, "2");
    ok(!(await isThere(`${file("unchanged")}.rejected`)));
  });

  test("a namespace that may not go comes back", async () => {
    const path = join(folder, "namespaces/_/default.json");
    await rm(path);
    await waitFor(() => isThere(path), { what: "the file" });
    equal((await get("/api/v1/namespaces/default")).status, 200);
  });

  test("what the server writes is no change by hand", async () => {
    await create(map("own"));
    const { metadata } = (await get(`${MAPS}/own`)).object;
    const rounds = 50;
    for (let round = 0; round < rounds; round++) await api.ask(admin, "PUT", `${MAPS}/own`, map("own", `${round}.`));
    // All looks at files before this one are done when this edit counts.
    await written("own");
    await waitFor(async () => (await readFile(file("own"), "utf8")).includes('"49."'), { what: "the last version" });
    await writeFile(file("own"), JSON.stringify(map("own", "by hand")));
    await becomes("own", "by hand");
    const last = (await get(`${MAPS}/own`)).object.metadata;
    equal(Number(last.resourceVersion), Number(metadata.resourceVersion) + rounds + 1);
  });
});
