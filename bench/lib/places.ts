// Where the nodes of a bench are: folders and cgroups of this run alone, which are removed with it.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { recordCgroup } from "../../tools/standalone/runs.js";

/** Environment variable of the measuring process: the run's folder on /run, which is in memory on most machines. */
export const BENCH_FOLDER = "NODELET_BENCH_FOLDER";

/** Path of the folder of a node; it is not made here. */
export function benchFolder(name: string): string {
  const folder = process.env[BENCH_FOLDER];
  if (folder === undefined) throw new Error(`${BENCH_FOLDER} is not set: a bench runs in own-run.ts`);
  return join(folder, name);
}

/** Path of a new cgroup for the pods of a node without a private runtime; it is not made here. */
export async function newCgroup(): Promise<string> {
  const path = `/nodelet-${randomUUID().slice(0, 8)}`;
  await recordCgroup(path);
  return path;
}
