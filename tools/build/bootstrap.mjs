// A fresh clone has neither dependencies nor compiled code. So the first steps of `npm start`, `npm test` and the other
// commands are plain JavaScript that needs only Node.
// Invariant: each failure prints one line with the reason; each slow step prints its name and duration; nothing is
// installed or built again when it is up to date.

import { existsSync, lstatSync, mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "./build.mjs";
import { CannotStart } from "./cannot-start.mjs";
import { outliveReaders } from "./closed-output.mjs";
import { npmNotes } from "./npm-notes.mjs";
import { continueOnPinnedNode } from "./pinned-node.mjs";
import { step } from "./step.mjs";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
// Every command of a checkout begins with this file.
outliveReaders();

/** Enough to start a command of a checkout, which then goes on with the Node that npm brings. */
const OLDEST_NODE = [20, 19];

/**
 * Checks the machine as far as `environment` is wanted, installs npm packages, goes on with the Node of the packages,
 * builds; without `bundle` no bundle of the kubelet. Ends the process on failure.
 */
export async function prepare({ environment = true, bundle = true } = {}) {
  try {
    checkNode();
    if (environment) {
      checkRoot();
      checkCgroups();
    }
    await install();
    await continueOnPinnedNode(root);
    await build(root, { bundle });
  } catch (error) {
    fail(unwritable(error) ?? error);
  }
}

/** The reason if a file of the checkout cannot be written: an earlier run was root's, or the disk is full. */
export function unwritable({ code, path }) {
  if (typeof path !== "string" || !path.startsWith(`${root}/`)) return undefined;
  const what = `cannot write ${relative(root, path)} (${code})`;
  if (["EACCES", "EPERM"].includes(code))
    return new CannotStart(`${what}: make the checkout yours, sudo chown -R $USER ${root}, or run this with sudo`);
  if (code === "EROFS") return new CannotStart(`${what}: ${root} is read-only: use a checkout on another file system`);
  return ["ENOSPC", "EDQUOT"].includes(code) ? new CannotStart(`${what}: no space is left, free some`) : undefined;
}

/** Errors of programs whose message is complete for the user. */
const COMPLETE = ["SetupProblem", "CommandFailed", "SourceError", "ContractError"];

/** Prints one line for a known reason, the stack for a defect, and ends with status 1. */
export function fail(error) {
  const known = error instanceof CannotStart || COMPLETE.includes(error?.name);
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
  await step(root, "npm ci", "npm", args, npmNotes());
}

/** True when node_modules holds exactly the versions of package-lock.json (packages for other systems aside). */
function dependenciesInstalled() {
  const wanted = packagesOf(join(root, "package-lock.json"));
  const present = packagesOf(join(root, "node_modules", ".package-lock.json"));
  if (wanted === undefined || present === undefined) return false;
  return Object.entries(wanted).every(([path, { version, optional, link }]) => {
    if (path === "" || link === true) return true;
    const found = present[path];
    return found === undefined ? optional === true : found.version === version;
  });
}

function packagesOf(lockFile) {
  return existsSync(lockFile) ? JSON.parse(readFileSync(lockFile, "utf8")).packages : undefined;
}
