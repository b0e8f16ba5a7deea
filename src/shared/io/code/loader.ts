// Loads the code of the bundle (tools/bundle/main.mjs) with V8's code cache. First comes one pack with all that a
// thread's start needs, later single chunks. Node's own loaders open each file by itself, and their cache has no
// function that was compiled lazily (docs/adr/0057).
// Invariant: packs are read synchronously, and only start-up has packs; a chunk that is loaded later is read without
// blocking.

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import { isMainThread } from "node:worker_threads";
import { cachePath, openCache } from "./code-cache.js";
import { setV8Flags } from "./v8-flags.js";

/** The text of a module within the function that the bundle's build makes of it (tools/bundle/modules.mjs). */
type Body = (exports: object, require: (name: string) => unknown, module: Module, load: Load, url: string) => void;
type Load = (name: string) => Promise<object>;
interface Module {
  exports: object;
}
type Read = { text: string; cache: Buffer | undefined };

/**
 * For an entry, or for a chunk that is loaded later, the pack of all modules that it needs. A pack leaves out what
 * those before it have.
 */
export type Packs = Readonly<Record<string, string>>;

/** Loads the entry `key` and runs it. Keys are paths below `root`, with slashes. Returns its exports. */
export function start(root: string, key: string, packs: Packs): object {
  if (isMainThread) setV8Flags();
  const loader = new Loader(root, packs);
  loader.unpack(key);
  return loader.load(key);
}

export class Loader {
  private readonly bodies = new Map<string, Body>();
  private readonly unpacked = new Set<string>();
  private readonly modules = new Map<string, Module>();
  private readonly arriving = new Map<string, Promise<void>>();
  private readonly nodesOwn: NodeJS.Require;

  constructor(
    private readonly root: string,
    private readonly packs: Packs,
  ) {
    this.nodesOwn = createRequire(join(root, "loader.js"));
  }

  /** Reads the pack of `key`, if it has one, and those before it. Nothing of them is evaluated. */
  unpack(key: string): void {
    if (this.packs[key] === undefined) return;
    for (const [name, pack] of Object.entries(this.packs)) {
      this.readPack(pack);
      if (name === key) return;
    }
  }

  /** The exports of a module whose text is there. */
  load(key: string): object {
    const known = this.modules.get(key);
    if (known !== undefined) return known.exports;
    const body = this.bodies.get(key);
    if (body === undefined) throw new Error(`${key} is not loaded: the bundle is incomplete; build it again`);
    const module: Module = { exports: {} };
    this.modules.set(key, module);
    const folder = dirname(key);
    const require = (name: string): unknown =>
      name.startsWith(".") ? this.load(join(folder, name)) : this.nodesOwn(name);
    const load = (name: string): Promise<object> =>
      name.startsWith(".") ? this.loadLater(join(folder, name)) : (import(name) as Promise<object>);
    try {
      body(module.exports, require, module, load, pathToFileURL(join(this.root, "/")).href);
    } catch (error) {
      this.modules.delete(key);
      throw error;
    }
    return module.exports;
  }

  private readPack(pack: string): void {
    if (this.unpacked.has(pack)) return;
    const file = join(this.root, pack);
    const bodies = run(file, { text: readFileSync(file, "latin1"), cache: openCache(readIfThere(cachePath(file))) });
    for (const [name, body] of Object.entries(bodies as Record<string, Body>)) this.bodies.set(name, body);
    this.unpacked.add(pack);
  }

  private async loadLater(key: string): Promise<object> {
    await this.arrive(key);
    return this.load(key);
  }

  /** Resolves when the text of `key`, and of all that it imports, is there. */
  private arrive(key: string): Promise<void> {
    if (!this.bodies.has(key)) this.unpack(key);
    if (this.bodies.has(key)) return Promise.resolve();
    let arriving = this.arriving.get(key);
    if (arriving === undefined) {
      arriving = this.fetch(key).finally(() => this.arriving.delete(key));
      this.arriving.set(key, arriving);
    }
    return arriving;
  }

  private async fetch(key: string): Promise<void> {
    const file = join(this.root, key);
    const [text, cache] = await Promise.all([
      readFile(file, "latin1"),
      readFile(cachePath(file)).then(openCache, () => undefined),
    ]);
    // Chunks do not import each other in circles.
    await Promise.all(importsOf(text).map((name) => this.arrive(join(dirname(key), name))));
    this.bodies.set(key, run(file, { text, cache }) as Body);
  }
}

/** The first line of a chunk lists its imports. */
function importsOf(text: string): string[] {
  const names = text.slice("//".length, text.indexOf("\n"));
  return names === "" ? [] : names.split(" ");
}

function run(filename: string, { text, cache }: Read): unknown {
  return new Script(text, { filename, cachedData: cache }).runInThisContext();
}

/** Empty when there is none, or it cannot be read: the code is compiled as usual. */
function readIfThere(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}
