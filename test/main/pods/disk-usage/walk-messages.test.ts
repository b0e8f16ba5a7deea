// Messages between main and the pool for a walk. However many directories a pod has made, each job and its result stay
// small.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { serialize } from "node:v8";
import { DiskUsage } from "../../../../src/main/pods/disk-usage/disk-usage.js";
import { setOwnership } from "../../../../src/main/volumes/fs-group/set-ownership.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { monotonicTime, wallTime } from "../../../../src/shared/base/clock/moments.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { changeOwnership } from "../../../../src/workers/tasks/ownership/change-ownership.js";
import { directoryUsage } from "../../../../src/workers/tasks/usage/directory-usage.js";
import { pod } from "../../../support/pods.js";
import { noVolumeMetrics } from "../../../support/silent.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";
import { volumeCalls } from "../../../support/volume-calls.js";
import { isRoot, keptEvents, never } from "../../volumes/temporary-root.js";

const DIRECTORIES = 25_000;
const SMALL = 4096;

/** A pod's emptyDir with very many directories. */
async function wideVolume(rootDir: string): Promise<string> {
  const volume = join(rootDir, "pods/a/volumes/kubernetes.io~empty-dir/data");
  await mkdir(volume, { recursive: true });
  execFileSync("sh", ["-c", `seq ${DIRECTORIES} | xargs mkdir`], { cwd: volume });
  return volume;
}

/** Runs jobs as the pool would, and keeps the longest message. */
function measured<Job, Result>(run: (job: Job) => Result) {
  const seen = { longest: 0, jobs: 0 };
  const through = (job: Job): Promise<Result> => {
    const result = run(job);
    seen.jobs++;
    seen.longest = Math.max(seen.longest, serialize(job).length, serialize(result).length);
    return Promise.resolve(result);
  };
  return { seen, through };
}

test("a walk for disk usage sends small messages, however wide the tree", async (t) => {
  const rootDir = await temporaryFolder(t);
  await wideVolume(rootDir);
  const { seen, through } = measured(directoryUsage);
  const wide = pod({ volumes: [{ name: "data", emptyDir: {} }] }, "a", "a");
  const usage = new DiskUsage({
    places: { rootDir, podLogsDir: join(rootDir, "logs") },
    pod: () => wide,
    walk: through,
    quota: () => Promise.resolve(undefined),
    clock: {
      now: () => wallTime(0),
      monotonic: () => monotonicTime(0),
      after: (ms: number, run: () => void) => systemClock.after(ms, run),
      sleep: () => Promise.resolve(),
    },
    log: keptLog().log,
  });
  const [found] = await usage.of([podUid("a")], 0, 60_000);
  assert.equal(found?.volumes[0]?.inodes, DIRECTORIES + 1);
  assert.ok(seen.jobs >= DIRECTORIES / 5000, `${seen.jobs} jobs`);
  assert.ok(seen.longest < SMALL, `a message of ${seen.longest} bytes`);
});

test("a change of ownership sends small messages, however wide the tree", { skip: !isRoot && "root" }, async (t) => {
  const directory = await wideVolume(await temporaryFolder(t));
  const { seen, through } = measured(changeOwnership);
  const deps = {
    calls: volumeCalls(),
    changeOwnership: through,
    events: keptEvents(),
    clock: systemClock,
    metrics: noVolumeMetrics,
  };
  const owned = pod({ securityContext: { fsGroup: 4321 } }, "a", "a");
  await setOwnership(deps, { pod: owned, directory, plugin: "kubernetes.io/empty-dir", signal: never });
  assert.equal(execFileSync("sh", ["-c", "find . ! -gid 4321 | wc -l"], { cwd: directory }).toString().trim(), "0");
  assert.ok(seen.jobs >= DIRECTORIES / 20_000, `${seen.jobs} jobs`);
  assert.ok(seen.longest < SMALL, `a message of ${seen.longest} bytes`);
});
