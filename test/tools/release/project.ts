// A small built project with all that the packages take, and a Node that is this process's.

import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { readReleaseOptions } from "../../../tools/release/options.js";
import { release } from "../../../tools/release/release.js";

export const ROOT = new URL("../../../..", import.meta.url).pathname.replace(/\/$/, "");
/** Seconds since 1970 that the packages of these tests get. */
export const EPOCH = 1_700_000_000;

const integrity = `sha512-${Buffer.alloc(64, 7).toString("base64")}`;
const locked = { version: "1.2.3", integrity, license: "MIT" };
const FILES: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({ version: "0.2.0", bundle: { external: ["needed"] } }),
  "package-lock.json": JSON.stringify({
    packages: {
      "": {},
      "node_modules/needed": { ...locked, optionalDependencies: { "@native/x64": "1", "@native/arm64": "1" } },
      "node_modules/bundled": { ...locked, license: "(MIT OR CC0-1.0)" },
      "node_modules/tool": { ...locked, dev: true },
      "node_modules/our-node": { resolved: "tools/build/node", link: true },
      "tools/build/node": { version: "1.2.3", dev: true },
      "node_modules/@native/x64": { ...locked, optional: true, os: ["linux"], cpu: ["x64"] },
      "node_modules/@native/arm64": { ...locked, optional: true, os: ["linux"], cpu: ["arm64"] },
      "node_modules/@native/musl": { ...locked, optional: true, os: ["linux"], cpu: ["x64"], libc: ["musl"] },
    },
  }),
  "CHANGELOG.md": "# Changelog\n\n## 0.2.0 — 2023-11-14\n\n- First.\n",
  LICENSE: "our licence\n",
  "node_modules/needed/index.js": "1;\n",
  "node_modules/needed/package.json": JSON.stringify({ main: "index.js", bin: { needed: "./bin/cmd.js" } }),
  "node_modules/needed/bin/cmd.js": "#!/usr/bin/env node\n",
  "node_modules/needed/src/native.cc": "int main;\n",
  "node_modules/needed/tool.cjs": "#!/usr/bin/env node\n",
  "node_modules/@native/x64/musl_x64/native.node": "musl\n",
  "node_modules/needed/LICENSE.txt": "licence of needed\n",
  "node_modules/bundled/index.js": "1;\n",
  "node_modules/bundled/LICENSE": "licence of bundled\n",
  "node_modules/@native/x64/native.node": "x64\n",
  "dist/agent/version.json": JSON.stringify({ version: "0.2.0" }),
  "dist/agent/main/kubelet.js": "#!/usr/bin/env node\n1;\n",
  "dist/agent/main/kubelet.js.map": "{}\n",
  "dist/agent/cli/nodelet.js": "1;\n",
  "dist/agent/main/chunks/b.js": "//\n(function(){function later(){return 1}return later})\n",
  "dist/agent/packs/a.js": "({a:function(){function later(){return 'text'}return later}})\n",
  "dist/agent/packs/a.js.00000000.cache": "of another Node\n",
};

export interface Project {
  /** Folder of everything; removed after the test. */
  dir: string;
  /** Makes packages; returns their paths. */
  make: (...words: string[]) => Promise<string[]>;
}

export async function project(t: TestContext, name = "project"): Promise<Project> {
  const dir = await mkdtemp(join(tmpdir(), "nodelet-release-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const root = join(dir, name);
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text, { mode: /(kubelet|tool)\.c?js$/.test(path) ? 0o755 : 0o644 });
  }
  await cp(join(ROOT, "tools"), join(root, "tools"), { recursive: true });
  await cp(join(ROOT, "dist/agent/make-cache.js"), join(root, "dist/agent/make-cache.js"));
  await writeFile(join(root, "dist/agent/package.json"), '{"type":"commonjs"}\n');
  const fetched = join(dir, "fetched");
  await mkdir(join(fetched, "bin"), { recursive: true });
  await writeFile(join(fetched, "bin/node"), `#!/bin/sh\nexec ${process.execPath} "$@"\n`, { mode: 0o755 });
  await writeFile(join(fetched, "LICENSE"), "licence of Node\n");
  await writeFile(join(fetched, "native.node"), "fetched\n");
  const nothing = (): void => undefined;
  const dependencies = {
    say: nothing,
    step: <T>(_: string, work: (note: () => void) => Promise<T>): Promise<T> => work(nothing),
    fetch: () => Promise.resolve(fetched),
    env: { SOURCE_DATE_EPOCH: String(EPOCH) },
  };
  return {
    dir,
    make: (...words) => release(root, readReleaseOptions(words, root), dependencies),
  };
}
