// fsGroup: its effect on files, directories and links, conditions under which nothing changes, and events about a long
// change. Links created during the change never lead out of the volume.
// @promise Volumes: fsGroup: owner, mode bits and policy; no link is followed; progress reports after 30 s and 60 s.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { test } from "node:test";
import { createTasksPool } from "../../../src/main/threads/tasks-pool.js";
import { setOwnership, type OwnershipDeps } from "../../../src/main/volumes/fs-group/set-ownership.js";
import { VolumeError } from "../../../src/main/volumes/volume-error.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import type { ChangeOwnershipJob, ChangeOwnershipResult } from "../../../src/shared/contracts/tasks.js";
import type { PodSecurityContext } from "../../../src/shared/kubernetes/api/pod.js";
import { changeOwnership } from "../../../src/workers/tasks/ownership/change-ownership.js";
import { noVolumeMetrics, silentLog } from "../../support/silent.js";
import { until } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { volumeCalls } from "../../support/volume-calls.js";
import { isRoot, keptEvents, never, podWith, temporaryRoot } from "./temporary-root.js";

const skip = isRoot ? false : "needs root";
const GROUP = 4321;
const plugin = "kubernetes.io/empty-dir";

function deps(jobs: ChangeOwnershipJob[] = []): OwnershipDeps {
  return {
    changeOwnership: (job) => {
      jobs.push(job);
      return Promise.resolve(changeOwnership(job));
    },
    calls: volumeCalls(),
    events: keptEvents(),
    clock: new SteppedClock(),
    metrics: noVolumeMetrics,
  };
}
const podOf = (securityContext: PodSecurityContext) => podWith([], { securityContext });
const change = (directory: string, with_: OwnershipDeps, more: PodSecurityContext = {}, readOnly = false) =>
  setOwnership(with_, { pod: podOf({ fsGroup: GROUP, ...more }), directory, plugin, readOnly, signal: never });
const modeOf = (path: string): string => (lstatSync(path).mode & 0o7777).toString(8);

/** A volume with one of each. */
function fill(volume: string): void {
  mkdirSync(`${volume}/d/e`, { recursive: true });
  writeFileSync(`${volume}/file`, "");
  chmodSync(`${volume}/file`, 0o604);
  writeFileSync(`${volume}/d/tool`, "");
  chmodSync(`${volume}/d/tool`, 0o4755);
  writeFileSync(Buffer.concat([Buffer.from(`${volume}/d/e/`), Buffer.from([0xff, 0xfe])]), "");
  chmodSync(`${volume}/d/e`, 0o700);
  execFileSync("mkfifo", ["-m", "600", `${volume}/fifo`]);
  symlinkSync("/etc", `${volume}/d/link`);
}

test("files, directories, pipes and links get the group; bits are added, none is lost", { skip }, async (t) => {
  const volume = await temporaryRoot(t);
  fill(volume);
  const etc = statSync("/etc");
  await change(volume, deps());
  for (const path of ["", "/d", "/d/e", "/file", "/d/tool", "/fifo", "/d/link"]) {
    assert.equal(lstatSync(volume + path).gid, GROUP, path);
  }
  assert.deepEqual(
    ["", "/d/e", "/file", "/d/tool", "/fifo"].map((path) => modeOf(volume + path)),
    ["2770", "2770", "664", "4775", "660"],
  );
  assert.equal(execFileSync("find", [volume, "!", "-gid", String(GROUP)]).toString(), "", "names of any bytes too");
  assert.deepEqual([statSync("/etc").gid, statSync("/etc").mode], [etc.gid, etc.mode]);
});

test("a read-only volume: the group may read", { skip }, async (t) => {
  const volume = await temporaryRoot(t);
  writeFileSync(`${volume}/file`, "", { mode: 0o600 });
  await change(volume, deps(), {}, true);
  assert.deepEqual([modeOf(volume), modeOf(`${volume}/file`)], ["2750", "640"]);
});

test(
  "OnRootMismatch looks at the volume's directory alone; Always, and no policy, go through it",
  { skip },
  async (t) => {
    const volume = await temporaryRoot(t);
    fill(volume);
    await change(volume, deps(), { fsGroupChangePolicy: "OnRootMismatch" });
    assert.equal(statSync(`${volume}/file`).gid, GROUP, "the directory was not the group's");
    chownSync(`${volume}/file`, 0, 0);
    await change(volume, deps(), { fsGroupChangePolicy: "OnRootMismatch" });
    assert.equal(statSync(`${volume}/file`).gid, 0);
    await change(volume, deps(), { fsGroupChangePolicy: "Always" });
    assert.equal(statSync(`${volume}/file`).gid, GROUP);
    chmodSync(volume, 0o770);
    chownSync(`${volume}/file`, 0, 0);
    await change(volume, deps(), { fsGroupChangePolicy: "OnRootMismatch" });
    assert.equal(statSync(`${volume}/file`).gid, GROUP, "without setgid the directory does not match");
  },
);

test("no fsGroup, nothing changed; an empty volume needs no pool thread", { skip }, async (t) => {
  const volume = await temporaryRoot(t);
  const jobs: ChangeOwnershipJob[] = [];
  const before = modeOf(volume);
  await setOwnership(deps(jobs), { pod: podOf({}), directory: volume, plugin, signal: never });
  assert.equal(modeOf(volume), before);
  await change(volume, deps(jobs));
  assert.equal(modeOf(volume), "2770");
  assert.deepEqual(jobs, []);
});

test("a big volume is done in parts, in a pool thread; the directory itself comes last", { skip }, async (t) => {
  const volume = await temporaryRoot(t);
  for (let folder = 0; folder < 30; folder++) {
    mkdirSync(`${volume}/${folder}`);
    for (let file = 0; file < 20; file++) writeFileSync(`${volume}/${folder}/${file}`, "");
  }
  const log = silentLog;
  const pool = createTasksPool({ heapMiB: 64, maxThreads: 1, log, clock: systemClock });
  t.after(() => pool.close());
  let jobs = 0;
  const inParts: OwnershipDeps = {
    ...deps(),
    changeOwnership: async (job, turnOf, signal) => {
      jobs++;
      assert.notEqual(statSync(volume).gid, GROUP);
      return pool.run("changeOwnership", { ...job, maxFiles: 100 }, { deadlineMs: 60_000, turnOf, signal });
    },
  };
  await change(volume, inParts);
  // 630 files and directories, at most 100 in a part; a part also ends after a time.
  assert.ok(jobs >= 7, `${jobs} parts`);
  assert.equal(execFileSync("find", [volume, "!", "-gid", String(GROUP)]).toString(), "");
});

test("a long change is reported after 30 s and then every 60 s", { skip }, async (t) => {
  const volume = await temporaryRoot(t);
  writeFileSync(`${volume}/file`, "");
  const clock = new SteppedClock();
  const events = keptEvents();
  const answers: ((result: ChangeOwnershipResult) => void)[] = [];
  const slow: OwnershipDeps = {
    ...{ clock, events, calls: volumeCalls(), metrics: noVolumeMetrics },
    changeOwnership: () => new Promise((resolve) => answers.push(resolve)),
  };
  const changing = change(volume, slow);
  await until("the first job", () => answers.length === 1);
  clock.step(29_999);
  assert.equal(events.seen.length, 0);
  clock.step(1);
  answers[0]?.({ place: Uint8Array.of(1), files: 20_000 });
  await until("the second job", () => answers.length === 2);
  clock.step(60_000);
  answers[1]?.({ files: 7 });
  await changing;
  clock.step(120_000);
  assert.equal(clock.pending, 0);
  assert.deepEqual(
    events.seen.map(({ type, reason, message }) => [type, reason, message.replace(/ - https:.*/, " - URL")]),
    [
      [
        "Warning",
        "VolumePermissionChangeInProgress",
        `Setting volume ownership for ${volume} is taking longer than expected, consider using OnRootMismatch - URL`,
      ],
      ["Warning", "VolumePermissionChangeInProgress", `Setting volume ownership for ${volume}, processed 20000 files.`],
    ],
  );
});

test("a refusal names the file; an abort ends the change between two parts", { skip }, async (t) => {
  const volume = await temporaryRoot(t);
  writeFileSync(`${volume}/file`, "");
  const refused = { files: 0, error: { path: `${volume}/file`, message: "EROFS: read-only" } };
  await assert.rejects(
    change(volume, { ...deps(), changeOwnership: () => Promise.resolve(refused) }),
    (error) => error instanceof VolumeError && error.message.includes(`${volume}/file`) && /EROFS/.test(error.message),
  );
  const controller = new AbortController();
  const reason = new Error("the pod is being terminated");
  const aborting: OwnershipDeps = {
    ...deps(),
    changeOwnership: () => {
      controller.abort(reason);
      return Promise.resolve({ place: Uint8Array.of(1), files: 1 });
    },
  };
  const pod = podOf({ fsGroup: GROUP });
  await assert.rejects(setOwnership(aborting, { pod, directory: volume, plugin, signal: controller.signal }), reason);
});

test("an entry that was listed and is a link by now is left alone", { skip }, async (t) => {
  const root = await temporaryRoot(t);
  const volume = `${root}/volume`;
  mkdirSync(`${volume}/d`, { recursive: true });
  mkdirSync(`${root}/outside`);
  writeFileSync(`${root}/outside/secret`, "", { mode: 0o600 });
  writeFileSync(`${volume}/d/file`, "");
  const job: ChangeOwnershipJob = { root: volume, group: GROUP, readOnly: false, maxFiles: 1, maxMs: 60_000 };
  // The first part enters the directory d; before the second one it is swapped.
  const { place } = changeOwnership(job);
  assert.ok(place !== undefined);
  renameSync(`${volume}/d`, `${root}/d`);
  symlinkSync(`${root}/outside`, `${volume}/d`);
  assert.deepEqual(changeOwnership({ ...job, place, maxFiles: 10 }), { files: 0 });
  assert.notEqual(statSync(`${root}/outside/secret`).gid, GROUP);
  rmSync(`${volume}/d`);
  symlinkSync(`${root}/outside/secret`, `${volume}/file`);
  lchownSync(`${volume}/file`, 0, 0);
  changeOwnership({ ...job, maxFiles: 10 });
  assert.equal(lstatSync(`${volume}/file`).gid, GROUP, "the link itself");
  assert.notEqual(statSync(`${root}/outside/secret`).gid, GROUP);
  assert.equal(modeOf(`${root}/outside/secret`), "600");
});
