// `npm run build` and the commands that build when they must, in a copy of the project. esbuild is the real one; the
// bundler only notes its calls.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { run } from "../../../tools/standalone/exec.js";

const TOOLS = new URL("../../../../tools/", import.meta.url);
const ESBUILD = fileURLToPath(new URL("../../../../node_modules/", import.meta.url));
const KUBELET = "src/main/kubelet.ts";
const TEST = "test/main/a.test.ts";
/** Stands for the bundler: one line in `calls` for each call, then status 1 if a file `broken` is there. */
const BUNDLER = `import { appendFileSync, existsSync, mkdirSync } from "node:fs";
appendFileSync("calls", "bundle\\n");
mkdirSync("dist/agent", { recursive: true });
process.exit(existsSync("broken") ? 1 : 0);
`;
/** As `npm test` prepares: it prints what was done. */
const USE = `import { build } from "./tools/build/build.mjs";
const bundle = !process.argv.includes("--no-bundle");
try { console.log(JSON.stringify(await build(process.cwd(), { bundle }))); }
catch (error) { console.error(error.message); process.exitCode = 1; }`;

interface Done {
  transpiled: number;
  removed: number;
  bundled: boolean;
}

const dirs: string[] = [];
let project: string;

beforeEach(async () => {
  project = await mkdtemp(join(tmpdir(), "nodelet-build-"));
  dirs.push(project);
  const files: Record<string, string> = {
    [KUBELET]: "export const answer: number = 42;\n",
    [TEST]: "export {};\n",
    "tsconfig.json": "{}",
    "package.json": `{"type": "module"}`,
    "package-lock.json": `{"packages": {}}`,
    "tools/bundle/main.mjs": BUNDLER,
    "use.mjs": USE,
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text);
  }
  await cp(new URL("build", TOOLS), join(project, "tools", "build"), { recursive: true });
  await mkdir(join(project, "node_modules", "@esbuild"), { recursive: true });
  await symlink(join(ESBUILD, "esbuild"), join(project, "node_modules", "esbuild"));
});
after(() => Promise.all(dirs.map((dir) => rm(dir, { recursive: true, force: true }))));

async function build(...args: string[]): Promise<Done> {
  return JSON.parse(await run(process.execPath, ["use.mjs", ...args], { cwd: project })) as Done;
}

test("the second of two builds does nothing", async () => {
  assert.deepEqual(await build(), { transpiled: 2, removed: 0, bundled: true });
  assert.match(await readFile(join(project, "dist/src/main/kubelet.js"), "utf8"), /^const answer = 42;$/m);
  assert.deepEqual(await build(), { transpiled: 0, removed: 0, bundled: false });
});

test("a first build removes code of deleted sources, and keeps packages that were fetched before it", async () => {
  const files = ["dist/packages/SHA256SUMS", "dist/apt/dists/Release", "dist/src/deleted.js", "dist/agent/old.js"];
  for (const file of files) {
    await mkdir(dirname(join(project, file)), { recursive: true });
    await writeFile(join(project, file), "");
  }
  await build();
  assert.deepEqual(
    files.filter((file) => existsSync(join(project, file))),
    ["dist/packages/SHA256SUMS", "dist/apt/dists/Release"],
  );
});

test("a changed source of the kubelet is transpiled alone, and the bundle is made again", async () => {
  await build();
  await utimes(join(project, KUBELET), 1, 1);
  assert.deepEqual(await build(), { transpiled: 1, removed: 0, bundled: true });
});

test("a changed test makes no bundle", async () => {
  await build();
  await utimes(join(project, TEST), 1, 1);
  assert.deepEqual(await build(), { transpiled: 1, removed: 0, bundled: false });
});

test("a build without the bundle leaves the bundle to the next one", async () => {
  assert.deepEqual(await build("--no-bundle"), { transpiled: 2, removed: 0, bundled: false });
  assert.deepEqual(await build(), { transpiled: 0, removed: 0, bundled: true });
});

test("the bundle is made again after a bundler that failed", async () => {
  await writeFile(join(project, "broken"), "");
  await assert.rejects(build(), /bundling the kubelet failed with status 1/);
  await rm(join(project, "broken"));
  assert.deepEqual(await build(), { transpiled: 0, removed: 0, bundled: true });
});

test("a syntax error is named with its place, and is named again by the next build", async () => {
  await build();
  await writeFile(join(project, TEST), "const = 1;\n");
  for (let turn = 0; turn < 2; turn++) {
    await assert.rejects(build(), /test\/main\/a\.test\.ts:1:7: Expected identifier/);
  }
});

test("the code of a removed source is removed", async () => {
  await build();
  await rm(join(project, TEST));
  assert.deepEqual(await build(), { transpiled: 0, removed: 1, bundled: false });
  assert.deepEqual(await readdir(join(project, "dist/test/main")), []);
});

test("a dist of unknown sources is emptied", async () => {
  await mkdir(join(project, "dist"));
  await writeFile(join(project, "dist", "stale.js"), "");
  await build();
  await assert.rejects(readFile(join(project, "dist", "stale.js")), { code: "ENOENT" });
});

test("two builds at once transpile each source once", async () => {
  const both = await Promise.all([build(), build()]);
  assert.equal(both[0].transpiled + both[1].transpiled, 2);
  assert.equal(both.filter(({ bundled }) => bundled).length, 1);
});

test("a build goes on after another one was killed in the middle", async () => {
  await writeFile(join(project, "tools/bundle/main.mjs"), `process.kill(process.ppid, "SIGKILL");`);
  await assert.rejects(build());
  await writeFile(join(project, "tools/bundle/main.mjs"), BUNDLER);
  assert.deepEqual(await build(), { transpiled: 0, removed: 0, bundled: true });
});

test("npm run build prints what it did", async () => {
  const first = await run(process.execPath, ["tools/build/main.mjs"], { cwd: project });
  assert.match(first, /^build: 2 sources transpiled, 0 removed, the bundle made \(\d+\.\d s\)\n$/);
});
