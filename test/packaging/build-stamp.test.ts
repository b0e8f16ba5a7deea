// `npm run build` and the commands that build when they must, in a copy of the project whose compiler only notes its calls.

import assert from "node:assert/strict";
import { copyFile, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { run } from "../../packaging/standalone/exec.js";

const PACKAGING = new URL("../../../packaging/", import.meta.url);
const SOURCE = "src/main/kubelet.ts";
/** Stands for tsc and bundle.mjs: one line in `calls` for each call, then status 1 if a file `broken` is there. */
const NOTE = `import { appendFileSync, existsSync, mkdirSync } from "node:fs";
appendFileSync("calls", "compile\\n");
mkdirSync("dist/agent", { recursive: true });
process.exit(existsSync("broken") ? 1 : 0);
`;

const dirs: string[] = [];
let project: string;

beforeEach(async () => {
  project = await mkdtemp(join(tmpdir(), "nodelet-build-"));
  dirs.push(project);
  const files: Record<string, string> = {
    [SOURCE]: "",
    "src/page/main.ts": "",
    "tsconfig.json": "{}",
    "package.json": `{"type": "module"}`,
    "package-lock.json": `{"packages": {}}`,
    "node_modules/.package-lock.json": `{"packages": {}}`,
    "node_modules/typescript/package.json": `{"type": "module"}`,
    "node_modules/typescript/bin/tsc": NOTE,
    "packaging/bundle.mjs": NOTE,
    "packaging/bundle/modules.mjs": "",
    "packaging/bundle/page.mjs": "",
    "use.mjs": `import { prepare } from "./packaging/bootstrap.mjs"; await prepare({ environment: false });`,
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text);
  }
  for (const name of ["bootstrap.mjs", "build.mjs", "npm-notes.mjs"])
    await copyFile(new URL(name, PACKAGING), join(project, "packaging", name));
});
after(() => Promise.all(dirs.map((dir) => rm(dir, { recursive: true, force: true }))));

/** Runs a script of the project; returns how often it compiled: a whole `npm run build` has three steps. */
async function compilations(script: string): Promise<number> {
  await rm(join(project, "calls"), { force: true });
  await run(process.execPath, [script], { cwd: project });
  const calls = await readFile(join(project, "calls"), "utf8").catch(() => "");
  return calls.split("\n").length - 1;
}

test("npm test after npm run build builds nothing", async () => {
  assert.equal(await compilations("packaging/build.mjs"), 3);
  assert.equal(await compilations("use.mjs"), 0);
});

test("npm run build always builds; npm test builds after a change of a source", async () => {
  assert.equal(await compilations("use.mjs"), 2);
  assert.equal(await compilations("use.mjs"), 0);
  assert.equal(await compilations("packaging/build.mjs"), 3);
  await utimes(join(project, SOURCE), 1, 1);
  assert.equal(await compilations("use.mjs"), 2);
});

test("npm test builds again after a build that failed", async () => {
  assert.equal(await compilations("packaging/build.mjs"), 3);
  await writeFile(join(project, "broken"), "");
  await assert.rejects(compilations("packaging/build.mjs"), /status 1/);
  await rm(join(project, "broken"));
  assert.equal(await compilations("use.mjs"), 2);
});

test("a build after the removal of a source begins with an empty dist", async () => {
  await compilations("packaging/build.mjs");
  await writeFile(join(project, "dist", "stale.js"), "");
  await rm(join(project, "src/page/main.ts"));
  await compilations("packaging/build.mjs");
  await assert.rejects(readFile(join(project, "dist", "stale.js")), { code: "ENOENT" });
  assert.equal(await compilations("use.mjs"), 0);
});
