// Lists and watches as the kubelet relies on them: pages, versions, bookmarks, streamed lists, selectors, the 410.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ApiRefusal, pathOf, type ApiKit, type ObjectList, type Query, type WatchEvent } from "../support/api-kit.js";
import { Cluster } from "../support/cluster.js";

let cluster: Cluster;
let kit: ApiKit;
let namespace: string;
before(async () => {
  cluster = await Cluster.start();
  ({ kit, namespace } = cluster);
  for (const name of ["a", "b", "c"]) {
    await kit.create("secrets", { metadata: { name, namespace, labels: { letter: name, all: "yes" } } });
  }
});
after(async () => cluster[Symbol.asyncDispose]());

const names = ({ items }: ObjectList): string[] => items.map(({ metadata }) => metadata.name);

/** The first events of a watch; `count` of them, or all until it ends. */
async function events(query: Query, count = Infinity, resource = "secrets"): Promise<WatchEvent[]> {
  const seen: WatchEvent[] = [];
  if (count === 0) return seen;
  for await (const event of kit.watch(resource, namespace, query, AbortSignal.timeout(60_000))) {
    seen.push(event);
    if (seen.length >= count) break;
  }
  return seen;
}

const summary = (seen: readonly WatchEvent[]): string[] =>
  seen.map(({ type, object }) => `${type} ${object.metadata.name}`);

describe("lists", () => {
  it("come in the order of names, with the version of the whole, items without kind", async () => {
    const list = await kit.list("secrets", namespace);
    assert.equal(list.kind, "SecretList");
    assert.deepEqual(names(list), ["a", "b", "c"]);
    assert.match(list.metadata.resourceVersion, /^\d+$/);
    assert.equal(list.items[0]?.kind, undefined);
  });

  it("are selected by labels and fields", async () => {
    const rows: [Query, string[]][] = [
      [{ labelSelector: "letter=a" }, ["a"]],
      [{ labelSelector: "letter in (a,c)" }, ["a", "c"]],
      [{ labelSelector: "all,letter!=a" }, ["b", "c"]],
      [{ labelSelector: "letter notin (a,b)" }, ["c"]],
      [{ labelSelector: "!letter" }, []],
      [{ fieldSelector: "metadata.name=b" }, ["b"]],
      [{ fieldSelector: "metadata.name!=b,type=Opaque" }, ["a", "c"]],
    ];
    for (const [query, expected] of rows) {
      assert.deepEqual(names(await kit.list("secrets", namespace, query)), expected, JSON.stringify(query));
    }
  });

  it("refuse a field that is no index", async () => {
    const { code, body } = await kit.raw("GET", pathOf("pods", namespace), { query: { fieldSelector: "spec.no=x" } });
    assert.equal(code, 400);
    assert.equal((body as { message: string }).message, "field label not supported: spec.no");
  });

  it("come in pages that agree with each other", async () => {
    const first = await kit.list("secrets", namespace, { limit: 2 });
    assert.deepEqual(names(first), ["a", "b"]);
    assert.equal(first.metadata.remainingItemCount, 1);
    await kit.create("secrets", { metadata: { name: "bb", namespace } });
    try {
      const second = await kit.list("secrets", namespace, { limit: 2, continue: first.metadata.continue ?? "" });
      assert.deepEqual(names(second), ["c"]);
      assert.equal(second.metadata.continue, undefined);
      assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
    } finally {
      await kit.delete("secrets", namespace, "bb");
    }
  });

  it("show an exact version as it was", async () => {
    const { metadata } = await kit.list("secrets", namespace);
    await kit.create("secrets", { metadata: { name: "later", namespace } });
    await kit.delete("secrets", namespace, "later");
    const query = { resourceVersion: metadata.resourceVersion, resourceVersionMatch: "Exact" };
    const exact = await kit.list("secrets", namespace, query);
    assert.deepEqual(names(exact), ["a", "b", "c"]);
    assert.equal(exact.metadata.resourceVersion, metadata.resourceVersion);
  });

  it("of a compacted version are Expired: 410", async () => {
    const query = { resourceVersion: "1", resourceVersionMatch: "Exact" };
    const { code, body } = await kit.raw("GET", pathOf("secrets", namespace), { query });
    assert.equal(code, 410);
    assert.equal((body as { reason: string }).reason, "Expired");
  });

  it("of the cache (version 0) are there at once", async () => {
    assert.deepEqual(names(await kit.list("secrets", namespace, { resourceVersion: "0" })), ["a", "b", "c"]);
  });
});

describe("watches", () => {
  it("without a version begin with the current objects", async () => {
    assert.deepEqual(summary(await events({}, 3)), ["ADDED a", "ADDED b", "ADDED c"]);
    assert.deepEqual(summary(await events({ resourceVersion: "0", labelSelector: "letter=b" }, 1)), ["ADDED b"]);
  });

  it("from a version send each later change, in order, with growing versions", async () => {
    const { metadata } = await kit.list("secrets", namespace);
    await kit.create("secrets", { metadata: { name: "w", namespace } });
    await kit.patch("secrets", namespace, "w", { data: { k: "dg==" } }, { type: "merge" });
    await kit.delete("secrets", namespace, "w");
    const seen = await events({ resourceVersion: metadata.resourceVersion }, 3);
    assert.deepEqual(summary(seen), ["ADDED w", "MODIFIED w", "DELETED w"]);
    const versions = seen.map(({ object }) => Number(object.metadata.resourceVersion));
    assert.deepEqual(
      versions,
      [...versions].sort((one, other) => one - other),
    );
    assert.equal(new Set(versions).size, 3);
    assert.equal(seen[0]?.object.kind, "Secret");
  });

  it("an object that leaves the selection is DELETED, one that enters it ADDED", async () => {
    const { metadata } = await kit.list("secrets", namespace);
    const label = (letter: string): Promise<unknown> =>
      kit.patch("secrets", namespace, "c", { metadata: { labels: { letter } } }, { type: "merge" });
    await label("z");
    await label("c");
    await kit.patch("secrets", namespace, "c", { data: { k: "dg==" } }, { type: "merge" });
    const query = { resourceVersion: metadata.resourceVersion, labelSelector: "letter=c" };
    const seen = await events(query, 3);
    assert.deepEqual(summary(seen), ["DELETED c", "ADDED c", "MODIFIED c"]);
    // As it was when it was last selected, at the version at which it left.
    assert.equal(seen[0]?.object.metadata.labels?.["letter"], "c");
    assert.ok(Number(seen[0].object.metadata.resourceVersion) > Number(metadata.resourceVersion));
  });

  it("stream a list and mark its end with a bookmark", async () => {
    const query = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true };
    const seen = await events(query, 4);
    assert.deepEqual(summary(seen.slice(0, 3)), ["ADDED a", "ADDED b", "ADDED c"]);
    const [mark] = seen.slice(-1);
    assert.equal(mark?.type, "BOOKMARK");
    assert.deepEqual(mark.object.metadata.annotations, { "k8s.io/initial-events-end": "true" });
    assert.match(mark.object.metadata.resourceVersion ?? "", /^\d+$/);
  });

  it("refuse a streamed list without its match", async () => {
    const refused = events({ sendInitialEvents: true }, 1);
    await assert.rejects(refused, (error) => error instanceof ApiRefusal && error.code === 422);
  });

  it("end after timeoutSeconds, with a last bookmark before", async () => {
    const { metadata } = await kit.list("pods", namespace);
    // A real server looks for due bookmarks once a second: below five it may miss the last one.
    const timeoutSeconds = cluster.fixture === undefined ? 5 : 3;
    const query = { resourceVersion: metadata.resourceVersion, allowWatchBookmarks: true, timeoutSeconds };
    const seen = await events(query, Infinity, "pods");
    assert.deepEqual([...new Set(seen.map(({ type }) => type))], ["BOOKMARK"]);
    assert.equal(seen[0]?.object.kind, "Pod");
  });

  it("from a compacted version send an ERROR event: Expired, 410", async () => {
    const [event] = await events({ resourceVersion: "1" }, 1);
    assert.equal(event?.type, "ERROR");
    const { kind, code, reason, message } = event.object as unknown as Record<string, unknown>;
    assert.deepEqual([kind, code, reason], ["Status", 410, "Expired"]);
    assert.match(String(message), /^too old resource version: 1 \(\d+\)$/);
  });

  it("from a version to come stay silent until it is passed", async () => {
    assert.deepEqual(await events({ resourceVersion: "99999999", timeoutSeconds: 1 }), []);
  });
});
