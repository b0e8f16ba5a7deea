// From the kernel's log, or from counts without it, to the report to main.

import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { EvictionRecord } from "../../../../src/shared/contracts/eviction.js";
import { CgroupReaderV2 } from "../../../../src/shared/node/stats/cgroup/v2.js";
import { ownerOf } from "../../../../src/workers/eviction/oom/cgroup-owner.js";
import { OomCounters } from "../../../../src/workers/eviction/oom/counters.js";
import { openKernelLog, type LogDevice } from "../../../../src/workers/eviction/oom/kernel-log.js";
import { OomWatcher } from "../../../../src/workers/eviction/oom/watcher.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { EvictionWorld } from "../eviction-kit.js";
import { pod } from "../kit.js";
import { ModelKernelLog } from "./model-kernel-log.js";

const ID = "218ed5141356aaa79bc30acb0e768cfc66e023f14b5f2ee4c47c72ce77b4057d";
const OTHER = ID.replace("2", "3");
const STATIC_UID = "3ea08aec3ee466002e2e7e554f17e6e0";
const UID = "0a1b2c3d-0000-4000-8000-0123456789ab";
const NO_DETAILS = new CgroupReaderV2(
  "/",
  () => undefined,
  () => [],
).details("/");
const KILLED = "Out of memory: Killed process 7 (hog) total-vm:1kB, anon-rss:1kB";

function start(device: LogDevice | Error) {
  const kept = keptLog();
  const records: EvictionRecord[] = [];
  const tasks: string[][] = [];
  const watcher = new OomWatcher({
    open: () => {
      if (device instanceof Error) throw device;
      return device;
    },
    counters: { sample: () => tasks.shift() ?? [] },
    known: (uid) => uid === UID,
    publish: (record) => void records.push(record),
    clock: new SteppedClock(),
    log: kept.log,
  });
  const pids = (): number[] => records.flatMap((record) => (record.kind === "oom" ? [record.pid] : []));
  return { kept, records, tasks, watcher, pids };
}

describe("the owner of a process", () => {
  const systemd =
    "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod0a1b2c3d_0000_4000_8000_0123456789ab.slice";
  const cases: [path: string, podUid?: string, containerId?: string][] = [
    [`/kubepods/burstable/pod${STATIC_UID}/${ID}`, STATIC_UID, ID],
    [`/kubepods/pod${UID}/${ID}/system.slice/x.service`, UID, ID],
    [`/a/b/kubepods/besteffort/pod${UID}`, UID],
    [`${systemd}/cri-containerd-${ID}.scope`, UID, ID],
    [`${systemd}/crio-${ID}.scope/container`, UID, ID],
    [`/kubepods/pod${UID}/${ID}/kubepods/pod${STATIC_UID}/${OTHER}`, UID, ID],
    [`/kubepods/pod${STATIC_UID}/${ID}/kubelet/kubepods/pod${UID}/${OTHER}`, UID, OTHER],
    ["/"],
    ["/system.slice/podman.service"],
    ["/podman-4711/x"],
  ];
  for (const [path, podUid, containerId] of cases) {
    test(path, () => {
      deepEqual(
        ownerOf(path, (uid) => uid === UID),
        {
          ...(podUid === undefined ? {} : { podUid }),
          ...(containerId === undefined ? {} : { containerId }),
        },
      );
    });
  }
});

describe("the watcher", () => {
  test("reports new kills, not old records", () => {
    const log = new ModelKernelLog();
    log.say([KILLED]);
    const { watcher, records } = start(log);
    log.say([
      `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,mems_allowed=0,oom_memcg=/kubepods/pod${UID},task_memcg=/kubepods/pod${UID}/${ID},task=hog,pid=8,uid=0`,
      "Memory cgroup out of memory: Killed process 8 (hog) total-vm:1kB, anon-rss:1kB, UID:0",
      KILLED,
      "Memory cgroup out of memory: Killed process 9 (hog) total-vm:1kB, anon-rss:1kB, UID:0",
    ]);
    watcher.reportKills();
    const at = new SteppedClock().now();
    const of = { kind: "oom", process: "hog", at };
    deepEqual(records, [
      { ...of, pid: 8, cgroup: `/kubepods/pod${UID}`, podUid: UID, containerId: ID },
      { ...of, pid: 7, cgroup: "/" },
      { ...of, pid: 9, cgroup: "" },
    ]);
    watcher.reportKills();
    equal(records.length, 3);
    watcher[Symbol.dispose]();
    ok(log.closed);
  });

  test("continues after overwritten records, and logs that once", () => {
    const log = new ModelKernelLog();
    log.put({ code: "EPIPE" });
    const { watcher, pids, kept } = start(log);
    watcher.reportKills();
    deepEqual(kept.warnings(), []);
    for (let n = 0; n < 2; n++) {
      log.put({ code: "EPIPE" });
      log.say([KILLED]);
      watcher.reportKills();
    }
    deepEqual(pids(), [7, 7]);
    match(kept.warnings().join("\n"), /^the kernel's log overflowed[^\n]*$/);
  });

  test("a storm does not fill the queue", () => {
    const log = new ModelKernelLog();
    const { watcher, pids, kept } = start(log);
    watcher.reportKills();
    log.say(Array.from({ length: 60 }, () => KILLED));
    watcher.reportKills();
    equal(pids().length, 50);
    match(kept.warnings().join("\n"), /^the OOM killer killed 10 more processes/);
  });

  test("without the kernel log the counters are used; the reason is logged once", () => {
    const { watcher, records, tasks, kept } = start(
      Object.assign(new Error("EPERM: open '/dev/kmsg'"), { code: "EPERM" }),
    );
    tasks.push([], [`/kubepods/pod${UID}/${ID}`]);
    for (let n = 0; n < 3; n++) watcher.reportKills();
    const at = new SteppedClock().now();
    deepEqual(records, [{ kind: "oom", pid: 0, process: "", cgroup: "", podUid: UID, containerId: ID, at }]);
    match(kept.warnings().join("\n"), /^cannot read the kernel's log; .*EPERM.*; give the kubelet CAP_SYSLOG$/);
  });

  test("a kernel log that fails is closed, and the counters are used", () => {
    const log = new ModelKernelLog();
    const { watcher, records, tasks, kept } = start(log);
    watcher.reportKills();
    log.put({ code: "EIO" });
    watcher.reportKills();
    ok(log.closed);
    tasks.push([`/kubepods/pod${UID}/${ID}`]);
    watcher.reportKills();
    equal(records.length, 1);
    match(kept.warnings().join("\n"), /^cannot read the kernel's log; .*EIO[^;]*$/);
  });

  test("is looked at with every look of the thread, and knows its pods", async () => {
    const world = new EvictionWorld();
    await world.start([pod("a")]);
    world.kernelLog.say([
      `Task in /kubepods/burstable/poduid-a/${ID} killed as a result of limit of /kubepods/burstable/poduid-a`,
      "Killed process 5 (hog) total-vm:1kB",
    ]);
    await world.run(1000);
    const [record] = world.records.filter(({ kind }) => kind === "oom");
    deepEqual(record, {
      kind: "oom",
      pid: 5,
      process: "hog",
      cgroup: "/kubepods/burstable/poduid-a",
      podUid: "uid-a",
      containerId: ID,
      at: 1_001_000,
    });
    await world.service.close();
    ok(world.kernelLog.closed);
  });
});

test("a file that is not the kernel's log is not taken for it", async (t) => {
  const path = join(await temporaryFolder(t), "kmsg");
  writeFileSync(path, "");
  throws(() => openKernelLog(path), { name: "OperatorError" });
});

test("counts of cgroups: increases since the last sample, if any process was killed at all", () => {
  let kills: number | undefined = 3;
  const counts: Record<string, number> = { "/p/a": 1, "/p/b": 0 };
  let looks = 0;
  const counters = new OomCounters({
    read: () => (kills === undefined ? "nr_free_pages 1\n" : `nr_free_pages 1\noom_kill ${kills}\n`),
    reader: {
      children: () => Object.keys(counts).map((path) => path.slice("/p/".length)),
      details: (path) => {
        looks++;
        return { ...NO_DETAILS, oomEvents: counts[path] ?? 0 };
      },
    },
    pods: () => ["/p"],
  });
  deepEqual(counters.sample(), []);
  counts["/p/b"] = 1;
  looks = 0;
  deepEqual(counters.sample(), []);
  equal(looks, 0);
  counts["/p/c"] = 1;
  kills = 5;
  deepEqual(counters.sample(), ["/p/b", "/p/c"]);
  kills = undefined;
  deepEqual(counters.sample(), []);
});
