// Patches that were made to break the server: names that every object inherits, copies of copies, depth, long lists.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ApiObject, Fields } from "../../../src/workers/apiserver/objects/object.js";
import { readFields } from "../../../src/workers/apiserver/objects/read-fields.js";
import { boundedTree, MAX_DEPTH } from "../../../src/workers/apiserver/objects/tree.js";
import { applyJsonPatch, MAX_COPIED, MAX_OPERATIONS } from "../../../src/workers/apiserver/patch/json-patch.js";
import { ListIndex } from "../../../src/workers/apiserver/patch/list-index.js";
import { applyMergePatch } from "../../../src/workers/apiserver/patch/merge-patch.js";
import { applied, dropChanged } from "../../../src/workers/apiserver/patch/ownership.js";
import { applyStrategicMerge } from "../../../src/workers/apiserver/patch/strategic-merge.js";

const parsed = (text: string): Fields => JSON.parse(text) as Fields;
const INHERITED = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"];
const inherited = Object.getOwnPropertyNames(Object.prototype);

/** Nothing that every object inherits has changed, and `object` has the usual prototype at every level. */
function isClean(object: unknown): void {
  assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), inherited);
  if (typeof object !== "object" || object === null) return;
  assert.ok([Object.prototype, Array.prototype].includes(Object.getPrototypeOf(object) as object));
  for (const value of Object.values(object)) isClean(value);
}

const object = (more: Fields = {}): ApiObject => ({
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "web" } },
  ...more,
});
const apply = (old: ApiObject, config: ApiObject, manager = "one"): ApiObject =>
  applied(old, config, { manager, force: true, time: "2026-01-01T00:00:00Z" });

describe("a name that every object inherits is a field like any other", () => {
  for (const name of INHERITED) {
    const patch = parsed(`{"data":{"${name}":{"a":{"b":"1"}}},"${name}":{"c":{"d":"2"}}}`);

    it(`in a merge patch: ${name}`, () => {
      const merged = applyMergePatch(applyMergePatch({ data: {} }, patch), patch);
      isClean(merged);
      assert.deepEqual(JSON.parse(JSON.stringify(merged)), patch);
    });

    it(`in a strategic merge: ${name}`, () => {
      const merged = applyStrategicMerge("Pod", applyStrategicMerge("Pod", { data: {} }, patch), patch);
      isClean(merged);
      assert.deepEqual(JSON.parse(JSON.stringify(merged)), patch);
      const list = parsed(
        `{"${name}":[{"a":1}],"$deleteFromPrimitiveList/${name}":[1],"$setElementOrder/${name}":[1]}`,
      );
      isClean(applyStrategicMerge(name, { data: {} }, list));
    });

    it(`in a JSON patch: ${name}`, () => {
      const document = applyJsonPatch({ data: {} }, [
        { op: "add", path: `/data/${name}`, value: { a: "1" } },
        { op: "add", path: `/data/${name}/b`, value: "2" },
        { op: "copy", from: `/data/${name}`, path: `/${name}` },
      ]);
      isClean(document);
      assert.deepEqual(document, parsed(`{"data":{"${name}":{"a":"1","b":"2"}},"${name}":{"a":"1","b":"2"}}`));
      assert.throws(() => applyJsonPatch({ data: {} }, [{ op: "add", path: `/data/${name}/x`, value: 1 }]), /rejected/);
    });

    it(`in a server-side apply, also when it is dropped again: ${name}`, () => {
      const config = object({ ...patch, list: [parsed(`{"${name}":1}`)] });
      const once = apply(object(), config);
      isClean(once);
      assert.deepEqual((once as Fields)["data"], patch["data"]);
      const again = apply(once, object({ data: parsed(`{"${name}":{"toString":"x"}}`) }));
      isClean(again);
      const dropped = apply(again, object());
      isClean(dropped);
      assert.ok(!JSON.stringify(dropped["data"]).includes(':"x"'));
    });
  }
});

describe("what a JSON patch may cost", () => {
  it("is bounded for copies of copies", () => {
    const value = "x".repeat(100);
    const bomb = [
      { op: "add", path: "/a", value: { value } },
      ...Array.from({ length: 60 }, (_, at) => ({ op: "copy", from: "/a", path: `/a/c${at}` })),
    ];
    assert.throws(() => applyJsonPatch({}, bomb), { code: 413 });
    const copies = Array.from({ length: 10 }, (_, at) => ({ op: "copy", from: "/a", path: `/c${at}` }));
    const half = { a: "x".repeat(MAX_COPIED / 20) };
    assert.equal(Object.keys(applyJsonPatch(half, copies)).length, 11);
  });

  it("is bounded for operations", () => {
    const test = { op: "test", path: "/a", value: 1 };
    assert.deepEqual(applyJsonPatch({ a: 1 }, Array(MAX_OPERATIONS).fill(test)), { a: 1 });
    assert.throws(() => applyJsonPatch({ a: 1 }, Array(MAX_OPERATIONS + 1).fill(test)), { code: 413 });
  });

  it("is refused for what is no operation", () => {
    for (const one of [null, 1, "add", [], {}, { op: "add" }, { op: 1, path: "" }, { op: "copy", path: "", from: 1 }]) {
      assert.throws(() => applyJsonPatch({}, [one]), { code: 400 });
    }
  });

  it("is bounded for depth that grows with each operation", () => {
    const value = parsed(`{"a":${'{"a":'.repeat(100)}1${"}".repeat(100)}}`);
    const below = (count: number): string => `/x${"/a".repeat(count)}`;
    const patch = [
      { op: "add", path: "/x", value },
      { op: "add", path: below(100), value },
    ];
    assert.throws(() => applyJsonPatch({}, patch), { code: 400 });
  });
});

describe("a tree of a client", () => {
  const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));

  it("has a bounded depth", () => {
    assert.deepEqual(boundedTree(nested(MAX_DEPTH)), nested(MAX_DEPTH));
    assert.throws(() => boundedTree(nested(MAX_DEPTH + 1)), { code: 400 });
    assert.throws(() => boundedTree(nested(1_000_000)), { code: 400 });
  });

  it("has no more characters than a body, by aliases either", () => {
    const text = "x".repeat(1024 * 1024);
    assert.throws(() => boundedTree(Array(7).fill(text)), { code: 413 });
    const shared = Array(1000).fill("x".repeat(1000));
    assert.throws(() => boundedTree(Array(10).fill(shared)), { code: 413 });
    assert.equal((boundedTree([text, text]) as unknown[]).length, 2);
  });

  it("has integers of 64 bits beyond 2^53 with their digits, and as the nearest safe number if these are unknown", () => {
    const safe = Number.MAX_SAFE_INTEGER;
    assert.equal(boundedTree(2n ** 60n), 2n ** 60n);
    const tree = { a: [2n ** 60n, { b: 1n, c: -(2 ** 63), d: 1.5, e: 2n ** 63n + 5000n, f: 1e300 }] };
    assert.deepEqual(boundedTree(tree), { a: [2n ** 60n, { b: 1, c: -safe, d: 1.5, e: 2 ** 63 + 4096, f: 1e300 }] });
  });

  it("refuses an integer beyond 64 bits where a field has one", () => {
    const spec = { containers: [], terminationGracePeriodSeconds: 1e20 };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec } as ApiObject;
    assert.throws(() => readFields(boundedTree(pod) as ApiObject), { code: 400 });
    readFields({ ...pod, spec: { ...spec, terminationGracePeriodSeconds: Number.MAX_SAFE_INTEGER } });
  });
});

describe("what is looked at for lists with many items", () => {
  const COUNT = 2000;
  /** Items that count how often their name is read. */
  function counted(): { items: Fields[]; reads: () => number } {
    let count = 0;
    const items = Array.from({ length: COUNT }, (_, at) =>
      Object.defineProperty({}, "name", { enumerable: true, get: () => (count++, `item-${at}`) }),
    );
    return { items, reads: () => count };
  }
  const named = Array.from({ length: COUNT }, (_, at) => ({ name: `item-${COUNT - 1 - at}` }));

  it("grows with the number of items in a strategic merge", () => {
    const { items, reads } = counted();
    const patch = { spec: { containers: named, "$setElementOrder/containers": named } };
    const merged = applyStrategicMerge("Pod", { spec: { containers: items } }, patch);
    assert.deepEqual((merged["spec"] as { containers: unknown[] }).containers, named);
    assert.ok(reads() < 40 * COUNT, `${reads()} reads`);
    const deletions = { spec: { containers: named.map((one) => ({ ...one, $patch: "delete" })) } };
    const other = counted();
    assert.deepEqual(applyStrategicMerge("Pod", { spec: { containers: other.items } }, deletions), {
      spec: { containers: [] },
    });
    assert.ok(other.reads() < 40 * COUNT, `${other.reads()} reads`);
  });

  it("grows with the number of items when items are found by their keys", () => {
    const { items, reads } = counted();
    const lists = new ListIndex();
    for (const [at, { name }] of named.entries()) {
      assert.equal(lists.indexOf(items, `k:${JSON.stringify({ name })}`), COUNT - 1 - at);
    }
    assert.ok(reads() < 4 * COUNT, `${reads()} reads`);
  });
});

describe("fields of appliers", () => {
  const container = (name: string, env: object[] = []): object => ({ name, env });
  const pod = (containers: object[]): ApiObject => object({ spec: { containers } });

  it("leave with the items that their applier drops", () => {
    const first = apply(object(), pod([container("a", [{ name: "X", value: "1" }, { name: "Y" }]), container("b")]));
    const second = apply(first, pod([container("a", [{ name: "Y" }])]));
    assert.deepEqual(second.spec, { containers: [{ name: "a", env: [{ name: "Y" }] }] });
  });

  it("that no server wrote neither stop a change nor an apply", () => {
    const entries: unknown[] = [
      { manager: "x", fieldsV1: { "f:spec": { "f:containers": { "k:no JSON": {}, "v:": {}, "i:0": {}, "k:1": {} } } } },
      { manager: "y" },
      null,
      { fieldsV1: {} },
    ];
    const old = pod([container("a")]);
    old.metadata["managedFields"] = entries;
    const next = pod([container("b")]);
    dropChanged(next, old);
    assert.equal(next.spec !== undefined, true);
    assert.deepEqual(apply(old, pod([container("a")])).spec, old.spec);
  });
});
