// The loader of the bundle, on small hand-written bundles: modules, packs, chunks that arrive later, and V8's code
// cache.
// @promise Failures: A damaged, foreign or missing code cache changes nothing but the time of the start; each script of
//   the bundle has an intact one.
// @with test/tools/bundle/bundle.test.ts

import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { Script } from "node:vm";
import { cachePath, openCache, sealCache } from "../../../../src/shared/io/code/code-cache.js";
import { Loader } from "../../../../src/shared/io/code/loader.js";

const PARAMETERS = "exports,require,module,__load,__url";
const body = (code: string): string => `(function(${PARAMETERS}){${code}\n})`;
const chunk = (imports: string[], code: string): string => `//${imports.join(" ")}\n${body(code)}`;
const pack = (modules: Record<string, string>): string =>
  `({${Object.entries(modules)
    .map(([key, code]) => `${JSON.stringify(key)}:${body(code)}`)
    .join(",")}})`;

async function bundle(t: TestContext, files: Record<string, string | Uint8Array>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "nodelet-code-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  return root;
}

function entryOf(root: string, packs: Record<string, string>): Record<string, unknown> {
  const loader = new Loader(root, packs);
  loader.unpack("main/a.js");
  return loader.load("main/a.js") as Record<string, unknown>;
}

test("modules of a pack import each other and Node's modules, each runs once, and has the URL of the root", async (t) => {
  const root = await bundle(t, {
    "packs/a.js": pack({
      "main/chunks/b.js": `exports.runs=(globalThis.nodeletLoaderRuns=(globalThis.nodeletLoaderRuns??0)+1);exports.url=__url;`,
      "main/a.js": `exports.b=require("./chunks/b.js");exports.again=require("./chunks/b.js");exports.path=require("node:path");`,
    }),
  });
  const { b, again, path } = entryOf(root, { "main/a.js": "packs/a.js" });
  assert.equal(b, again);
  assert.deepEqual({ ...(b as object) }, { runs: 1, url: `file://${root}/` });
  assert.equal(path, await import("node:path").then((module) => module.default));
});

test("a chunk that is imported later is loaded with its imports, once for concurrent importers", async (t) => {
  const root = await bundle(t, {
    "packs/a.js": pack({
      "main/a.js": `exports.later=()=>__load("./chunks/c.js");exports.os=()=>__load("node:os");`,
    }),
    "main/chunks/c.js": chunk(["./d.js"], `exports.d=require("./d.js").d;`),
    "main/chunks/d.js": chunk([], `exports.d={};`),
  });
  const { later, os } = entryOf(root, { "main/a.js": "packs/a.js" }) as Record<string, () => Promise<{ d?: object }>>;
  const [one, two] = await Promise.all([later!(), later!()]);
  assert.equal(one, two);
  assert.ok(one.d);
  assert.equal(await later!(), one);
  assert.ok("hostname" in (await os!()));
});

test("a chunk with a pack of its own brings all modules of that pack", async (t) => {
  const root = await bundle(t, {
    "packs/a.js": pack({ "main/a.js": `exports.later=()=>__load("./chunks/c.js");` }),
    "packs/c.js": pack({ "main/chunks/d.js": `exports.d=1;`, "main/chunks/c.js": `exports.d=require("./d.js").d;` }),
  });
  const packs = { "main/a.js": "packs/a.js", "main/chunks/c.js": "packs/c.js" };
  const { later } = entryOf(root, packs) as Record<string, () => Promise<{ d: number }>>;
  assert.equal((await later!()).d, 1);
});

test("a pack uses modules of the packs before it, which are read with it", async (t) => {
  const root = await bundle(t, {
    "packs/a.js": pack({ "main/a.js": `exports.later=()=>__load("./chunks/c.js");` }),
    "packs/b.js": pack({ "main/chunks/b.js": `exports.b=2;` }),
    "packs/c.js": pack({ "main/chunks/c.js": `exports.b=require("./b.js").b;` }),
  });
  const packs = { "main/a.js": "packs/a.js", "main/chunks/b.js": "packs/b.js", "main/chunks/c.js": "packs/c.js" };
  const { later } = entryOf(root, packs) as Record<string, () => Promise<{ b: number }>>;
  assert.equal((await later!()).b, 2);
});

test("a module that throws runs again at the next import, as a missing chunk is looked for again", async (t) => {
  const root = await bundle(t, {
    "packs/a.js": pack({
      "main/a.js": `exports.bad=()=>__load("./bad.js");exports.missing=()=>__load("./missing.js");`,
      "main/bad.js": `if((globalThis.nodeletLoaderTries=(globalThis.nodeletLoaderTries??0)+1)<2)throw new Error("broken");exports.good=1;`,
    }),
  });
  const { bad, missing } = entryOf(root, { "main/a.js": "packs/a.js" }) as Record<
    string,
    () => Promise<{ good: number }>
  >;
  await assert.rejects(bad!(), /broken/);
  assert.equal((await bad!()).good, 1);
  await assert.rejects(missing!(), { code: "ENOENT" });
  await mkdir(join(root, "main"));
  await writeFile(join(root, "main/missing.js"), chunk([], `exports.good=2;`));
  assert.equal((await missing!()).good, 2);
});

test("the code runs from an intact cache; a damaged, foreign or empty one is ignored", async (t) => {
  const text = pack({ "main/a.js": `exports.twice=(n)=>n*2;` });
  const cacheOf = (source: string): Buffer => sealCache(new Script(source).createCachedData());
  const good = cacheOf(text);
  const damaged = Buffer.from(good);
  damaged[damaged.length - 5]! ^= 0xff;
  for (const cache of [good, damaged, cacheOf("1;"), new Uint8Array(0), new Uint8Array(100)]) {
    const root = await bundle(t, { "packs/a.js": text });
    await writeFile(cachePath(join(root, "packs/a.js")), cache);
    const { twice } = entryOf(root, { "main/a.js": "packs/a.js" }) as Record<string, (n: number) => number>;
    assert.equal(twice!(4), 8);
  }
});

test("any single damaged byte of a cache is noticed", () => {
  const data = Buffer.from("some bytes that V8 would trust");
  const sealed = sealCache(data);
  assert.deepEqual(openCache(sealed), data);
  for (let at = 0; at < sealed.length; at++) {
    // Padding.
    if (at >= 4 && at < 8) continue;
    const damaged = Buffer.from(sealed);
    damaged[at]! ^= 0x10;
    assert.equal(openCache(damaged), undefined, `byte ${at}`);
  }
  for (let length = 0; length < sealed.length; length++) assert.equal(openCache(sealed.subarray(0, length)), undefined);
});
