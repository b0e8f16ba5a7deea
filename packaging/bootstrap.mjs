// A fresh clone has neither dependencies nor compiled code. So the first steps of `npm start` and `npm test` are plain JavaScript that
// needs only Node.
// Invariant: each failure prints one line with the reason; each slow step prints its name and duration; nothing is installed or built again
// when it is up to date.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { npmNotes } from "./npm-notes.mjs";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const STAMP = join(root, "dist", ".sources");
const OLDEST_NODE = [20, 19];
const LINES_SHOWN = 25;
const SOURCES = ["src", "test", "bench", "packaging"];

/** A reason to stop; the user sees its message unchanged. */
class CannotStart extends Error {}

/** Checks the machine as far as `environment` is wanted, installs npm packages, builds. Ends the process on failure. */
export async function prepare({ environment = true } = {}) {
  try {
    checkNode();
    if (environment) {
      checkRoot();
      checkCgroups();
    }
    await install();
    await build();
  } catch (error) {
    fail(error);
  }
}

/** Prints one line for a known reason, the stack for a defect, and ends with status 1. */
export function fail(error) {
  const known = error instanceof CannotStart || error?.name === "SetupProblem";
  console.error(`nodelet: ${known ? error.message : (error?.stack ?? error)}`);
  process.exit(1);
}

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new CannotStart(`Node ${process.versions.node} is too old: ${OLDEST_NODE.join(".")} or newer is needed`);
}

function checkRoot() {
  if (process.platform !== "linux") throw new CannotStart(`containers need Linux, this is ${process.platform}`);
  if (process.getuid() !== 0) throw new CannotStart("not root: containers need it; run the same command with sudo");
}

/** Tries to make a cgroup in each tree: one on cgroup v2, one per controller on v1. */
function checkCgroups() {
  const trees = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => / - cgroup2? /.test(line))
    .map((line) => line.split(" ")[4]);
  if (trees.length === 0) throw new CannotStart("no cgroup write access: no cgroup file system is mounted");
  for (const tree of trees) {
    const probe = join(tree, `nodelet-probe-${process.pid}`);
    try {
      mkdirSync(probe);
      rmdirSync(probe);
    } catch (error) {
      throw new CannotStart(`no cgroup write access: cannot make a cgroup in ${tree} (${error.code})`);
    }
  }
}

/** A linked node_modules belongs to another checkout that may be in use: `npm ci` would replace its files. */
async function install() {
  if (dependenciesInstalled()) return;
  if (lstatSync(join(root, "node_modules"), { throwIfNoEntry: false })?.isSymbolicLink()) {
    console.error("nodelet: node_modules is a link and differs from package-lock.json: left as it is");
    return;
  }
  // Without "http" npm says nothing until it is done, which takes minutes where the registry is slow.
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=http", "--no-progress"];
  await step("npm ci", "npm", args, npmNotes());
}

/** True when node_modules holds exactly the versions of package-lock.json (packages for other systems aside). */
function dependenciesInstalled() {
  const wanted = packagesOf(join(root, "package-lock.json"));
  const present = packagesOf(join(root, "node_modules", ".package-lock.json"));
  if (wanted === undefined || present === undefined) return false;
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === "") return true;
    const found = present[path];
    return found === undefined ? optional === true : found.version === version;
  });
}

function packagesOf(lockFile) {
  return existsSync(lockFile) ? JSON.parse(readFileSync(lockFile, "utf8")).packages : undefined;
}

/** Compiles when any source, setting or dependency, or V8 (docs/adr/0057), differs from those of the last build. */
async function build() {
  const state = sourceState();
  if (state.hash === lastBuild().hash && existsSync(join(root, "dist", "agent"))) return;
  beginBuild(state);
  await step("building", process.execPath, [join("node_modules", "typescript", "bin", "tsc"), "-p", "tsconfig.json"]);
  await step("bundling the kubelet", process.execPath, [join("packaging", "bundle.mjs")]);
  endBuild(state);
}

/** The inputs of the compiled code: names of the sources, and a hash of their times and sizes, the settings and V8. */
export function sourceState() {
  const files = SOURCES.flatMap((folder) => sourcesBelow(join(root, folder)));
  const hash = createHash("sha256");
  const bundler = ["packaging/bundle.mjs", "packaging/bundle/modules.mjs", "packaging/bundle/page.mjs"];
  const settings = ["tsconfig.json", "package.json", "package-lock.json", ...bundler];
  hash.update(process.versions.v8);
  for (const file of [...files, ...settings.map((name) => join(root, name))]) {
    const { mtimeMs, size } = statSync(file);
    hash.update(`${file}\0${mtimeMs}\0${size}\n`);
  }
  return { hash: hash.digest("hex"), files: files.map((file) => file.slice(root.length + 1)) };
}

function lastBuild() {
  return existsSync(STAMP) ? JSON.parse(readFileSync(STAMP, "utf8")) : { files: [] };
}

/** Removes the stamp, so that a build that fails is repeated. A deleted source must not live on as compiled code: then dist is removed. */
export function beginBuild(state) {
  const now = new Set(state.files);
  const removed = lastBuild().files.some((file) => !now.has(file));
  rmSync(removed ? join(root, "dist") : STAMP, { recursive: true, force: true });
}

/** Writes the stamp: dist has the code of `state`. */
export function endBuild(state) {
  writeFileSync(STAMP, JSON.stringify(state));
}

function sourcesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name))
    .sort();
}

/**
 * Runs a command, shows that it goes on, and shows the beginning of its output only when it fails.
 * `read` says of a line what the command is at (note), and that the line is of no use when it fails (noise).
 */
function step(name, command, args, read = () => ({})) {
  const began = performance.now();
  const seconds = () => `${((performance.now() - began) / 1000).toFixed(1)} s`;
  const terminal = process.stderr.isTTY === true;
  let at = "";
  const shown = () => `  … ${name} ${seconds()}${at}`.slice(0, (process.stderr.columns ?? 80) - 1);
  process.stderr.write(terminal ? `  … ${name}` : `  … ${name}\n`);
  const timer = setInterval(
    () =>
      process.stderr.write(terminal ? `\r\u001b[K${shown()}` : `  … ${name}, still at it after ${seconds()}${at}\n`),
    terminal ? 200 : 10_000,
  );
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        const { note, noise = false } = read(line);
        if (note !== undefined) at = `: ${note}`;
        if (!noise) output.push(line);
      });
    }
    child.on("error", (error) => reject(new CannotStart(`${name}: cannot run ${command}: ${error.message}`)));
    child.on("close", (status, signal) => {
      process.stderr.write(`${terminal ? "\r\u001b[K" : ""}  ${status === 0 ? "✓" : "✗"} ${name} (${seconds()})\n`);
      if (status === 0) return resolve();
      process.stderr.write(`${output.join("\n").trim().split("\n").slice(0, LINES_SHOWN).join("\n")}\n`);
      reject(new CannotStart(`${name} failed with ${signal ?? `status ${status}`}: see the lines above`));
    });
  }).finally(() => clearInterval(timer));
}
