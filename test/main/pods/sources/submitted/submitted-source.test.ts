// Manifests that clients send: all of a request or none, versions and conditions, what is on the disk after a crash.

import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { SubmittedSource } from "../../../../../src/main/pods/sources/submitted/submitted-source.js";
import type { TasksPool } from "../../../../../src/main/threads/tasks-pool.js";
import { systemClock } from "../../../../../src/shared/base/clock/clock.js";
import type { ManifestReply } from "../../../../../src/shared/contracts/manifests.js";
import { decodeSubmitted } from "../../../../../src/workers/tasks/manifest/decode-submitted.js";
import { keptLog, manifest, temporaryFolder } from "../../../../support/sources-kit.js";

const WEB = { namespace: "default", name: "web" };

class Kit {
  readonly log = keptLog();
  sets: string[][] = [];
  uids: string[] = [];
  graces: (number | undefined)[] = [];
  shortened: string[] = [];
  terminating = new Set<string>();
  source!: SubmittedSource;

  constructor(readonly folder: string) {}

  start(): this {
    const tasks = {
      run: (_name: string, job: Parameters<typeof decodeSubmitted>[0]) => Promise.resolve(decodeSubmitted(job)),
    } as unknown as TasksPool;
    this.source = new SubmittedSource({
      ...{ tasks, nodeName: "node", preventAPIReferences: true, folder: this.folder, clock: systemClock },
      log: this.log.log,
      former: { keep: (pods) => Promise.resolve([...pods]) },
      onManifests: () => undefined,
      shorten: (fullName, seconds) => {
        this.shortened.push(`${fullName} ${seconds}`);
        return this.terminating.has(fullName);
      },
      changes: {
        deliver: (_source, pods) => {
          this.sets.push(pods.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
          this.uids = pods.map(({ metadata }) => metadata.uid);
        },
        set: (_source, { metadata }) => this.graces.push(metadata.deletionGracePeriodSeconds),
      },
    });
    this.source.start();
    return this;
  }

  post(text: string, dryRun = false): Promise<ManifestReply> {
    return this.source.handle({ op: "create", body: Buffer.from(text), dryRun });
  }

  put(text: string, condition = {}, of = WEB): Promise<ManifestReply> {
    return this.source.handle({ op: "replace", of, body: Buffer.from(text), condition, dryRun: false });
  }

  async names(): Promise<string[]> {
    const reply = await this.source.handle({ op: "list" });
    assert.ok(reply.ok);
    return reply.manifests.map(({ name, resourceVersion }) => `${name}@${resourceVersion}`);
  }
}

async function kit(t: TestContext): Promise<Kit> {
  const made = new Kit(join(await temporaryFolder(t), "manifests")).start();
  t.after(() => made.source.stop());
  return made;
}

function code(reply: ManifestReply): number {
  return reply.ok ? 200 : reply.refusal.code;
}

test("an empty folder is a whole set without pods", async (t) => {
  const one = await kit(t);
  assert.deepEqual(await one.names(), []);
  assert.deepEqual(one.sets, [[]]);
  await assert.rejects(readdir(one.folder), /ENOENT/);
});

test("each document of a request becomes a static pod, and has a version of its own", async (t) => {
  const one = await kit(t);
  const reply = await one.post(`${manifest("web")}---\n${manifest("db")}`);
  assert.ok(reply.ok && reply.created);
  assert.deepEqual(one.sets.at(-1), ["default/web-node", "default/db-node"]);
  assert.deepEqual(await one.names(), ["web@1", "db@2"]);
});

test("one fault in a request keeps all of its manifests out, with its line", async (t) => {
  const one = await kit(t);
  const reply = await one.post(`${manifest("web")}---\n${manifest("db").replace("image:", "imag:")}`);
  assert.ok(!reply.ok);
  assert.equal(reply.refusal.code, 422);
  assert.match(reply.refusal.message, /body:\d+:\d+: spec\.containers\[0\]\.image: required value/);
  assert.deepEqual(await one.names(), []);
  await assert.rejects(readdir(one.folder), /ENOENT/);
});

test("a name that exists keeps all manifests of the request out", async (t) => {
  const one = await kit(t);
  await one.post(manifest("web"));
  assert.equal(code(await one.post(`${manifest("new")}---\n${manifest("web")}`)), 409);
  assert.deepEqual(await one.names(), ["web@1"]);
});

test("dryRun checks everything and keeps nothing", async (t) => {
  const one = await kit(t);
  const reply = await one.post(manifest("web"), true);
  assert.ok(reply.ok && reply.manifests.length === 1);
  assert.equal(code(await one.post("kind: Pod", true)), 422);
  assert.deepEqual(await one.names(), []);
});

test("a deletion with a grace period sets it in the pod before the pod is removed; without one, nothing is set", async (t) => {
  const one = await kit(t);
  await one.post(`${manifest("web")}---\n${manifest("db")}`);
  const remove = { op: "delete", condition: {}, dryRun: false } as const;
  assert.equal(code(await one.source.handle({ ...remove, of: WEB, gracePeriodSeconds: 7, dryRun: true })), 200);
  assert.deepEqual(one.graces, []);
  assert.equal(code(await one.source.handle({ ...remove, of: WEB, gracePeriodSeconds: 7 })), 200);
  assert.deepEqual(one.graces, [7]);
  assert.deepEqual(one.sets.at(-1), ["default/db-node"]);
  assert.equal(code(await one.source.handle({ ...remove, of: { ...WEB, name: "db" } })), 200);
  assert.deepEqual(one.graces, [7]);
});

test("a second deletion with a grace period shortens the termination; without one, or when the pod is gone, there is no manifest", async (t) => {
  const one = await kit(t);
  await one.post(manifest("web"));
  const remove = { op: "delete", of: WEB, condition: {}, dryRun: false } as const;
  assert.equal(code(await one.source.handle(remove)), 200);
  one.terminating.add("default/web-node");
  assert.equal(code(await one.source.handle(remove)), 404);
  assert.equal(code(await one.source.handle({ ...remove, gracePeriodSeconds: 3, dryRun: true })), 404);
  assert.equal(code(await one.source.handle({ ...remove, gracePeriodSeconds: 3, condition: { ifMatch: "*" } })), 404);
  assert.deepEqual(one.shortened, []);
  assert.equal(code(await one.source.handle({ ...remove, gracePeriodSeconds: 3 })), 200);
  assert.deepEqual(one.shortened, ["default/web-node 3"]);
  one.terminating.clear();
  assert.equal(code(await one.source.handle({ ...remove, gracePeriodSeconds: 3 })), 404);
});

test("of two writers with the same version the second is refused", async (t) => {
  const one = await kit(t);
  await one.post(manifest("web"));
  const [first, second] = await Promise.all([
    one.put(manifest("web", "command: [a]"), { ifMatch: '"1"' }),
    one.put(manifest("web", "command: [b]"), { ifMatch: '"1"' }),
  ]);
  assert.deepEqual([code(first), code(second)], [200, 412]);
  assert.deepEqual(await one.names(), ["web@2"]);
});

const CONDITIONS: [name: string, condition: object, exists: boolean, code: number][] = [
  ["PUT without a condition creates", {}, false, 200],
  ["PUT without a condition does not replace", {}, true, 428],
  ["If-Match with another version is refused", { ifMatch: '"7"' }, true, 412],
  ["If-Match with the version in a list is accepted", { ifMatch: '"7", "1"' }, true, 200],
  ["If-Match with a weak tag is refused", { ifMatch: 'W/"1"' }, true, 412],
  ["If-Match: * replaces any version", { ifMatch: "*" }, true, 200],
  ["If-Match: * does not create", { ifMatch: "*" }, false, 412],
  ["If-None-Match: * creates", { ifNoneMatch: "*" }, false, 200],
  ["If-None-Match: * does not replace", { ifNoneMatch: "*" }, true, 412],
];
for (const [name, condition, exists, expected] of CONDITIONS) {
  test(name, async (t) => {
    const one = await kit(t);
    if (exists) await one.post(manifest("web"));
    assert.equal(code(await one.put(manifest("web", "command: [a]"), condition)), expected);
  });
}

test("PUT of an equal manifest is no new version and restarts nothing", async (t) => {
  const one = await kit(t);
  await one.post(manifest("web"));
  const sets = one.sets.length;
  assert.equal(code(await one.put(manifest("web"), { ifMatch: "*" })), 200);
  assert.deepEqual(await one.names(), ["web@1"]);
  assert.equal(one.sets.length, sets);
});

test("a body for another name than the path's is refused", async (t) => {
  const one = await kit(t);
  assert.equal(code(await one.put(manifest("other"))), 400);
  const elsewhere = manifest("web").replace("name: web", "name: web\n  namespace: other");
  assert.equal(code(await one.put(elsewhere)), 400);
});

test("a deleted manifest's pod goes, and its file", async (t) => {
  const one = await kit(t);
  await one.post(manifest("web"));
  const remove = { op: "delete", of: WEB, condition: {}, dryRun: false } as const;
  assert.equal(code(await one.source.handle({ ...remove, condition: { ifMatch: '"9"' } })), 412);
  assert.equal(code(await one.source.handle(remove)), 200);
  assert.deepEqual(one.sets.at(-1), []);
  assert.deepEqual(await readdir(one.folder), ["index.json"]);
  assert.equal(code(await one.source.handle(remove)), 404);
});

test("the next process delivers the same pods under the same UIDs", async (t) => {
  const one = await kit(t);
  await one.post(`${manifest("web")}---\n${manifest("db")}`);
  await one.put(manifest("web", "command: [a]"), { ifMatch: "*" });
  const next = new Kit(one.folder).start();
  assert.deepEqual(await next.names(), ["web@3", "db@2"]);
  assert.deepEqual(next.uids, one.uids);
});

test("files of a request that a crash interrupted are removed", async (t) => {
  const one = await kit(t);
  await one.post(manifest("web"));
  await writeFile(join(one.folder, "2.json"), await readFile(join(one.folder, "1.json")));
  await writeFile(join(one.folder, ".tmp-index.json-00"), "half");
  const next = new Kit(one.folder).start();
  assert.deepEqual(await next.names(), ["web@1"]);
  assert.deepEqual((await readdir(one.folder)).sort(), ["1.json", "index.json"]);
});

test("a damaged index is set aside, and the newest manifests run on", async (t) => {
  const one = await kit(t);
  await one.post(`${manifest("web")}---\n${manifest("db")}`);
  await writeFile(join(one.folder, "index.json"), "{");
  const next = new Kit(one.folder).start();
  assert.deepEqual(await next.names(), ["web@1", "db@2"]);
  assert.deepEqual(next.uids, one.uids);
  assert.match(next.log.warnings().join(), /index of .* was damaged/);
});

test("a damaged manifest is shown with its problem, and can be replaced", async (t) => {
  const one = await kit(t);
  await one.post(`${manifest("web")}---\n${manifest("db")}`);
  await writeFile(join(one.folder, "1.json"), "\u0000");
  const next = new Kit(one.folder).start();
  assert.deepEqual(await next.names(), ["web@1", "db@2"]);
  assert.deepEqual(next.sets.at(-1), ["default/db-node"]);
  assert.match(next.log.errors().join(), /default\/web.*send the manifest again, or delete it/);
  const known = (): string[] =>
    [...next.source.manifests()].map(({ origin, refused }) => `${origin} ${refused?.message ?? "accepted"}`);
  assert.match(known().join(), /^default\/web syntax: the character U\+0000 is not allowed.*,default\/db accepted$/);
  assert.equal(code(await next.put(manifest("web"), { ifMatch: '"1"' })), 200);
  assert.deepEqual(known(), ["default/web accepted", "default/db accepted"]);
  assert.deepEqual(next.sets.at(-1), ["default/web-node", "default/db-node"]);
});

test("two manifests of one UID are refused", async (t) => {
  const one = await kit(t);
  const withUid = (name: string): string => manifest(name).replace("metadata:", "metadata:\n  uid: same");
  await one.post(withUid("web"));
  assert.equal(code(await one.post(withUid("db"))), 409);
});

test("a disk that cannot be written keeps the old set", async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, "file"), "");
  const one = new Kit(join(folder, "manifests")).start();
  await one.post(manifest("web"));
  const broken = new Kit(join(folder, "gone")).start();
  await broken.names();
  await writeFile(join(folder, "gone"), "a file where the folder should be");
  const reply = await broken.post(manifest("web"));
  assert.ok(!reply.ok && reply.refusal.code === 500);
  assert.deepEqual(broken.sets, [[]]);
});

test("manifests beyond their sum are refused, and deleting one makes room", { timeout: 120_000 }, async (t) => {
  const one = await kit(t);
  const large = (name: string): string => manifest(name, `args: [${"x".repeat(9 * 2 ** 20)}]`);
  for (const name of ["a", "b", "c"]) assert.equal(code(await one.post(large(name))), 200);
  const refused = await one.post(large("d"));
  assert.ok(!refused.ok && refused.refusal.code === 403);
  assert.match(refused.refusal.message, /at most 32 MiB together: delete some/);
  assert.deepEqual((await one.names()).length, 3);
  assert.equal(
    code(
      await one.source.handle({ op: "delete", of: { namespace: "default", name: "a" }, condition: {}, dryRun: false }),
    ),
    200,
  );
  assert.equal(code(await one.post(large("d"))), 200);
});
