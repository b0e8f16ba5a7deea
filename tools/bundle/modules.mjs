// Makes each ECMAScript chunk a function that src/shared/io/code/loader.ts calls. Packs the functions that a start
// needs into one file:
//   main/chunks/x.js     //./y.js ./z.js            (what it imports)
//                        (function(exports,require,module,__load,__url){…})
//   packs/kubelet-….js   ({"main/kubelet.js":(function…), …})
//   main/kubelet.js      calls the loader with the entry's packs
// __url is the URL of the bundle's root (own-urls.mjs).
// Invariant: names of packs and chunks contain a hash of their text. V8 compares only the length of the text with that
// of a code cache.

import { createHash } from "node:crypto";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { build } from "esbuild";
import { Positions, sourceName } from "./positions.mjs";

const HEAD = "(function(exports,require,module,__load,__url){";
const TAIL = "\n})";
const KUBELET = "main/kubelet.js";

export async function writeModules({ from, to, common, metafile, entries, starts }) {
  // Positions number the modules in this order: two builds give the same bytes.
  const names = (await readdir(from, { recursive: true })).filter((name) => name.endsWith(".js")).sort();
  const { outputFiles } = await build({
    ...common,
    entryPoints: names.map((name) => join(from, name)),
    outdir: to,
    outbase: from,
    format: "cjs",
    define: { "import.meta.url": "__url" },
    write: false,
  });
  const modules = new Map();
  for (const { path, text } of outputFiles) {
    const key = relative(to, path);
    if (key.endsWith(".map")) continue;
    const map = outputFiles.find((file) => file.path === `${path}.map`)?.text;
    modules.set(key, moduleOf(key, text, JSON.parse(map)));
  }
  const graph = new Graph(metafile, from);
  const positions = new Positions();
  const entryKeys = entries.map((entry) => `${entry}.js`);
  for (const [key, { code, map, imports }] of modules) {
    if (entryKeys.includes(key)) continue;
    const text = `//${imports.join(" ")}\n${HEAD}${code}${TAIL}`;
    await writeScript(to, key, text, [{ line: 1, code, map }], positions);
  }
  for (const entry of entryKeys) {
    const packed = graph.closure([entry]);
    const packs = { [entry]: await writePack(to, modules, entry, packed, positions) };
    if (entry === KUBELET) {
      for (const [key, needs] of Object.entries(starts)) {
        const later = graph
          .closure(needs.map((need) => graph.outputOf(need)))
          .filter((module) => !packed.includes(module));
        packs[graph.outputOf(key)] = await writePack(to, modules, key, later, positions);
        packed.push(...later);
      }
    }
    await mkdir(join(to, dirname(entry)), { recursive: true });
    const text = stub(entry, packs, graph.exportsOf(entry));
    await writeFile(join(to, entry), `${modules.get(entry).shebang}${text}`);
  }
  await positions.write(to);
  // The files are CommonJS, although the package above may be of another type.
  await writeFile(join(to, "package.json"), '{"type":"commonjs"}\n');
}

function moduleOf(key, text, map) {
  // A script has no import() of its own.
  const [shebang = ""] = /^#!.*\n/.exec(text) ?? [];
  const code = text
    .replace(/^#!.*/, "")
    .replace(/\n\/\/# sourceMappingURL=\S*\s*$/, "")
    .replaceAll(/(?<![.\w$])import\((?=")/g, "__load(");
  // One byte per character in memory, and the loader reads it as such.
  if (/[^\0-\x7f]/.test(code)) throw new Error(`${key} has characters beyond ASCII`);
  const imports = [...new Set([...code.matchAll(/\brequire\("(\.[^"]+)"\)/g)].map(([, name]) => name))];
  return { shebang, code, map, imports };
}

async function writePack(to, modules, name, keys, positions) {
  let text = "({";
  let line = 0;
  const sections = [];
  for (const key of keys) {
    const { code, map } = modules.get(key);
    text += `\n${JSON.stringify(key)}:\n`;
    line += 2;
    sections.push({ line, code, map });
    const body = `${HEAD}${code}${TAIL},`;
    text += body;
    line += body.split("\n").length - 1;
  }
  text += "\n})";
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 8);
  const path = `packs/${name.replace(/\.js$/, "").replaceAll("/", "-")}-${hash}.js`;
  await writeScript(to, path, text, sections, positions);
  return path;
}

/** An index map: each module's map from where its text begins. */
function mapOf(key, sections) {
  const offset = (line) => ({ line, column: HEAD.length });
  return {
    version: 3,
    file: basename(key),
    sections: sections.map(({ line, map }) => ({ offset: offset(line), map: pathsFrom(key, map) })),
  };
}

/**
 * esbuild wrote the map's paths for the module's own place: the sources themselves are named from the root of the
 * repository.
 */
function pathsFrom(key, map) {
  const up = relative(dirname(join("dist/agent", key)), ".");
  return { ...map, sources: map.sources.map((source) => join(up, sourceName(source))) };
}

async function writeScript(to, key, text, sections, positions) {
  const path = join(to, key);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${text}\n//# sourceMappingURL=${basename(path)}.map\n`);
  await writeFile(`${path}.map`, JSON.stringify(mapOf(key, sections)));
  positions.add(
    key,
    sections.map(({ line, code, map }) => ({ line, column: HEAD.length, code, map })),
  );
}

function stub(entry, packs, names) {
  const start = `require(${JSON.stringify(relative(dirname(entry), "loader.js"))}).start`;
  const root = `require("node:path").join(__dirname, ${JSON.stringify(relative(dirname(entry), "."))})`;
  const call = `module.exports = ${start}(${root}, ${JSON.stringify(entry)}, ${JSON.stringify(packs)});`;
  // Node finds the names that an ECMAScript module may import from here by reading this text.
  const exported = names.length === 0 ? "" : `0 && (module.exports = { ${names.join(", ")} });\n`;
  return `"use strict";\n${call}\n${exported}`;
}

/** Which chunk imports which, as esbuild tells. */
class Graph {
  constructor(metafile, from) {
    this.folder = join("dist", basename(from));
    const files = Object.entries(metafile.outputs).filter(([path]) => path.endsWith(".js"));
    this.outputs = new Map(files.map(([path, output]) => [relative(this.folder, path), output]));
  }

  exportsOf(key) {
    return this.outputs.get(key).exports;
  }

  /** The chunk that a source file is the entry of. */
  outputOf(source) {
    const found = [...this.outputs].find(([, { entryPoint }]) => entryPoint === `dist/src/${source}.js`);
    if (found === undefined) throw new Error(`${source} is no chunk of its own: nothing imports it dynamically`);
    return found[0];
  }

  /** All that the chunks import statically, and they themselves, in the order in which they run. */
  closure(keys) {
    const found = new Set();
    const add = (key, path) => {
      if (path.includes(key)) throw new Error(`chunks import each other: ${[...path, key].join(" -> ")}`);
      if (found.has(key)) return;
      for (const { path: imported, kind, external } of this.outputs.get(key).imports) {
        if (kind === "import-statement" && !external) add(relative(this.folder, imported), [...path, key]);
      }
      found.add(key);
    };
    for (const key of keys) add(key, []);
    return [...found];
  }
}
