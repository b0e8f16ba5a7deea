// The OOM killer's words, as kernels of several ages say them.

import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { parseKernelRecord, type KernelEntry } from "../../../../src/workers/eviction/oom/kernel-log.js";
import { OomReports, type OomKill } from "../../../../src/workers/eviction/oom/reports.js";

const ID = "218ed5141356aaa79bc30acb0e768cfc66e023f14b5f2ee4c47c72ce77b4057d";
const POD = "/kubepods/burstable/pod3ea08aec3ee466002e2e7e554f17e6e0";
const SLICE = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1f_2.slice";
const SCOPE = `${SLICE}/cri-containerd-${ID}.scope`;

const MEMCG_6_18 = [
  "tail invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=999",
  "CPU: 1 UID: 0 PID: 22029 Comm: tail Not tainted 6.18.44 #1 PREEMPT(none)",
  " out_of_memory+0x214/0x500",
  "memory: usage 16384kB, limit 16384kB, failcnt 69",
  `Memory cgroup stats for ${POD}:`,
  "[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name",
  "[  22029]     0 22029     4528     4324     4000      324         0    77824        0           999 tail",
  `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=${ID},mems_allowed=0,oom_memcg=${POD},task_memcg=${POD}/${ID},task=tail,pid=22029,uid=0`,
  "Memory cgroup out of memory: Killed process 22029 (tail) total-vm:18112kB, anon-rss:16000kB, file-rss:1296kB, shmem-rss:0kB, UID:0 pgtables:76kB oom_score_adj:999",
];
const KILLED = "Memory cgroup out of memory: Killed process 9 (x) total-vm:1kB, anon-rss:1kB, UID:0 pgtables:1kB";
const summary = (limit: string, task = "x", pid = 9): string =>
  `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0-1,oom_memcg=${limit},task_memcg=${SCOPE},task=${task},pid=${pid},uid=1000`;

const CASES: { name: string; lines: (string | { at: number; text: string })[]; kills: OomKill[] }[] = [
  {
    name: "6.18, a pod at its limit",
    lines: MEMCG_6_18,
    kills: [{ pid: 22029, process: "tail", limit: POD, task: `${POD}/${ID}` }],
  },
  {
    name: "5.15, the machine",
    lines: [
      "stress-ng invoked oom-killer: gfp_mask=0x1100cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=1000",
      `oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=${SCOPE},task=stress-ng,pid=4711,uid=0`,
      "Out of memory: Killed process 4711 (stress-ng) total-vm:8429184kB, anon-rss:7012444kB, file-rss:0kB, shmem-rss:44kB, UID:0 pgtables:13800kB oom_score_adj:1000",
      "oom_reaper: reaped process 4711 (stress-ng), now anon-rss:0kB, file-rss:0kB, shmem-rss:44kB",
    ],
    kills: [{ pid: 4711, process: "stress-ng", limit: "/", task: SCOPE }],
  },
  {
    name: "5.15, the one who asked",
    lines: ["Out of memory (oom_kill_allocating_task): Killed process 5 (a b) total-vm:1kB, anon-rss:1kB"],
    kills: [{ pid: 5, process: "a b", limit: "/", task: undefined }],
  },
  {
    name: "5.0, a child in place of the one chosen",
    lines: [
      "sh invoked oom-killer: gfp_mask=0x6000c0(GFP_KERNEL), order=0, oom_score_adj=1000",
      summary(SCOPE, "sh", 100),
      "Memory cgroup out of memory: Kill process 100 (sh) score 2008 or sacrifice child",
      "Killed process 101 (tail) total-vm:14196kB, anon-rss:13404kB, file-rss:4kB, shmem-rss:0kB",
    ],
    kills: [{ pid: 101, process: "tail", limit: SCOPE, task: SCOPE }],
  },
  {
    name: "4.19, a container at its limit",
    lines: [
      "java invoked oom-killer: gfp_mask=0x6000c0(GFP_KERNEL), nodemask=(null), order=0, oom_score_adj=968",
      `java cpuset=${ID} mems_allowed=0`,
      `Task in ${POD}/${ID} killed as a result of limit of ${POD}`,
      "memory: usage 524288kB, limit 524288kB, failcnt 318",
      "Memory cgroup out of memory: Kill process 15042 (java) score 1850 or sacrifice child",
      "Killed process 15042 (java) total-vm:3620420kB, anon-rss:514220kB, file-rss:15216kB, shmem-rss:0kB",
    ],
    kills: [{ pid: 15042, process: "java", limit: POD, task: `${POD}/${ID}` }],
  },
  {
    name: "4.4, the machine",
    lines: [
      "ruby invoked oom-killer: gfp_mask=0x201da, order=0, oom_score_adj=0",
      "Out of memory: Kill process 19667 (evilprogram2) score 1000 or sacrifice child",
      "Killed process 19668 (evil (2)) total-vm:1460016kB, anon-rss:1414008kB, file-rss:4kB",
    ],
    kills: [{ pid: 19668, process: "evil (2)", limit: "/", task: undefined }],
  },
  {
    name: "3.10 of RHEL 7",
    lines: [
      `Task in ${SCOPE} killed as a result of limit of ${SCOPE}`,
      "Memory cgroup out of memory: Kill process 3 (dd) score 990 or sacrifice child",
      "Killed process 3 (dd), UID 0, total-vm:108148kB, anon-rss:99820kB, file-rss:488kB, shmem-rss:0kB",
    ],
    kills: [{ pid: 3, process: "dd", limit: SCOPE, task: SCOPE }],
  },
  {
    name: "a name made to mislead",
    lines: [
      summary(SLICE, "x,pid=1,uid=0"),
      "Memory cgroup out of memory: Killed process 9 (x) total-vm (y) total-vm:1kB, anon-rss:1kB, UID:0",
    ],
    kills: [{ pid: 9, process: "x) total-vm (y", limit: SLICE, task: SCOPE }],
  },
  {
    name: "a cgroup killed as a group is reported once, a kill one second later again",
    lines: [
      summary(SCOPE),
      KILLED,
      `Tasks in ${SCOPE} are going to be killed due to memory.oom.group set`,
      KILLED,
      KILLED.replace("9", "10"),
      KILLED.replace("9", "11"),
      { at: 1_500_000, text: KILLED.replace("9", "12") },
    ],
    kills: [
      { pid: 9, process: "x", limit: SCOPE, task: SCOPE },
      { pid: 12, process: "x", limit: undefined, task: undefined },
    ],
  },
  {
    name: "in a storm the kernel tells of the process only: an older report is not taken for its own",
    lines: [summary(SCOPE, "x", 8), KILLED, KILLED.replace("9", "10")],
    kills: [
      { pid: 9, process: "x", limit: undefined, task: undefined },
      { pid: 10, process: "x", limit: undefined, task: undefined },
    ],
  },
  {
    name: "a report whose middle was lost",
    lines: [summary(SCOPE), "lost", KILLED],
    kills: [{ pid: 9, process: "x", limit: undefined, task: undefined }],
  },
  {
    name: "a kill without a victim does not affect the next report",
    lines: [
      summary(SCOPE),
      "Memory cgroup out of memory and no killable processes...",
      "sh invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
      KILLED,
    ],
    kills: [{ pid: 9, process: "x", limit: undefined, task: undefined }],
  },
  {
    name: "other words",
    lines: [
      "eth0: link becomes ready",
      "audit: Killed process 1 (x) total-vm:1kB",
      "Out of memory and no killable processes...",
    ],
    kills: [],
  },
];

describe("a report of the OOM killer", () => {
  for (const { name, lines, kills } of CASES) {
    test(name, () => {
      const reports = new OomReports();
      const entries = lines.map((line): KernelEntry => {
        if (line === "lost" || typeof line === "object") return line;
        return { at: 1, text: line };
      });
      deepEqual(
        entries.flatMap((entry) => reports.read(entry) ?? []),
        kills,
      );
    });
  }
});

describe("a record of the kernel's log", () => {
  for (const [name, record, expected] of [
    ["plain", "3,116247,26321656605,-;text\n", { at: 26321656605, text: "text" }],
    ["with its caller and properties", "6,1,2,-,caller=T1;a;b,c\n SUBSYSTEM=x\n DEVICE=+y\n", { at: 2, text: "a;b,c" }],
    ["of bytes", "6,1,2,c;a\\x5cx2d\\xc3\\xa4\\x0a\n", { at: 2, text: "a\\x2dä\n" }],
    ["a process wrote it", "12,1,2,-;Out of memory: Killed process 1 (x) total-vm:1kB\n", undefined],
    ["no record", "text\n", undefined],
  ] as const) {
    test(name, () => deepEqual(parseKernelRecord(record), expected));
  }
});
