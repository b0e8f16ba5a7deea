// `npm run profile [doctor|flame|bubbleprof|heapprofiler] [pods]`: a clinic.js profile of the kubelet while a burst of
// pods starts.
// clinic is not a dependency: npx fetches it when this is run for the first time.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { programWords } from "../tools/standalone/program-words.js";
import { markingPod } from "./lib/manifests.js";
import { startNodeUnderTest } from "./lib/node-under-test.js";
import { measureInOwnRun } from "./lib/own-run.js";
import { benchFolder } from "./lib/places.js";
import { readableKubelet } from "./lib/readable-bundle.js";

const INSIDE = "NODELET_PROFILE_INSIDE";
const RESULTS = fileURLToPath(new URL("../../bench/results/profile", import.meta.url));

/** As tools/usage/programs.mjs reads them. */
interface ProfileWords {
  tool: string;
  pods: number;
}

async function burst(tool: string, pods: number): Promise<void> {
  process.env["NODELET_BENCH_ENTRY"] = fileURLToPath(new URL("./profile-entry.js", import.meta.url));
  process.env["NODELET_PROFILE_KUBELET"] = await readableKubelet();
  process.env["NODELET_PROFILE_TOOL"] = tool;
  process.env["NODELET_PROFILE_DIR"] = RESULTS;
  const node = await startNodeUnderTest(benchFolder("profile"));
  try {
    console.log(`the agent runs under clinic ${tool}; ${pods} pods start`);
    const names = Array.from({ length: pods }, (_, i) => `profile-${i}`);
    for (const name of names) await node.manifests.put(name, markingPod(name, node.marks.directory));
    await node.until(pods, (pod) => pod.status?.phase === "Running");
    for (const name of names) await node.manifests.remove(name);
    await node.until(0);
    console.log("the burst has ended; clinic writes its report");
  } finally {
    await node.stop(180_000);
  }
  console.log(`reports: ${RESULTS}`);
}

const { tool, pods } = await programWords<ProfileWords>("dist/bench/profile.js");
if (process.env[INSIDE] !== undefined) {
  await burst(tool, pods);
} else {
  // npx needs the way out that the namespace does not have: fetch clinic first.
  const found = spawnSync("npx", ["--yes", "--package", "clinic@13", "--", "which", "clinic"], { encoding: "utf8" });
  const clinic = found.stdout.trim();
  if (found.status !== 0 || clinic === "") throw new Error(`npx could not fetch clinic: ${found.stderr.trim()}`);
  const program = [fileURLToPath(import.meta.url), tool, String(pods)];
  process.exitCode = await measureInOwnRun("profile", program, { [INSIDE]: "1", NODELET_PROFILE_CLINIC: clinic });
}
