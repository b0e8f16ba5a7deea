import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { monotonicTime } from "../../../../src/shared/base/clock/moments.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { PodCgroups } from "../../../../src/shared/node/stats/pod-cgroups.js";
import { RuntimeProcess } from "../../../../src/workers/server/stats/node/runtime-process.js";
import { listeningInode } from "../../../../src/workers/server/stats/node/socket-owner.js";
import { cgroupOf, systemCgroups } from "../../../../src/workers/server/stats/node/system-cgroups.js";
import { KernelTree } from "./tree.js";

const id = (letter: string): string => letter.repeat(64);
const STARTED = "2026-11-21T19:03:46Z";

function status(
  name: string,
  letter: string,
  last = "",
): NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[0] {
  return {
    name,
    image: `image-${name}`,
    imageID: "",
    ready: true,
    restartCount: 0,
    containerID: `containerd://${id(letter)}`,
    state: { running: { startedAt: STARTED } },
    lastState: last === "" ? {} : { terminated: { exitCode: 0, containerID: `containerd://${id(last)}` } },
  };
}

const POD: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "n", uid: podUid("1-2") },
  spec: { containers: [{ name: "a", image: "i" }] },
  status: { phase: "Running", qosClass: "Burstable", containerStatuses: [status("b", "b"), status("a", "a", "d")] },
};

function cgroups(paths: readonly string[], cgroupRoot = "/"): PodCgroups {
  const tree = new KernelTree(Object.fromEntries(paths.map((path) => [`${path}/cgroup.procs`, ""])));
  const reader = {
    exists: (path: string) => tree.read(`${path}/cgroup.procs`) !== undefined,
    children: (path: string) => tree.list(path),
  };
  return new PodCgroups({ cgroupRoot, cgroupsPerQOS: true }, reader);
}

for (const [driver, pod, container] of [
  ["cgroupfs", "/kubepods/burstable/pod1-2", (letter: string) => id(letter)],
  [
    "systemd",
    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice",
    (letter: string) => `cri-containerd-${id(letter)}.scope`,
  ],
] as const) {
  test(`${driver}: the pod's cgroup, its containers in the order of the status, its sandbox`, () => {
    const children = ["a", "b", "c", "d"].map((letter) => `${pod}/${container(letter)}`);
    const place = cgroups([pod, ...children, `${pod}/init`]).find(POD);
    equal(place?.path, pod);
    const startedAt = Date.parse(STARTED);
    deepEqual(place.containers, [
      { name: "b", image: "image-b", id: id("b"), path: `${pod}/${container("b")}`, startedAt },
      { name: "a", image: "image-a", id: id("a"), path: `${pod}/${container("a")}`, startedAt },
    ]);
    // "d" is the last run of a container whose cgroup is still there.
    deepEqual(place.sandbox, { id: id("c"), path: `${pod}/${container("c")}` });
  });
}

test("a pod without a QoS class in its status is looked for in all; one without a cgroup is nowhere", () => {
  const { status, ...bare } = POD;
  equal(status?.qosClass, "Burstable");
  equal(cgroups(["/kubepods/pod1-2"]).find(bare)?.path, "/kubepods/pod1-2");
  equal(cgroups(["/kubepods"]).find(POD), undefined);
});

test("the cgroups above the pods", () => {
  const root = cgroups(["/r/kubepods", "/r/kubepods/burstable"], "/r");
  deepEqual(root.above().sort(), ["/r/kubepods", "/r/kubepods/burstable"]);
  equal(root.all(), "/r/kubepods");
  equal(cgroups([], "/r").all(), undefined);
});

const PROC_CGROUP = "4:memory:/mem\n3:cpu,cpuacct:/cpu\n0::/unified\n";

test("a process's cgroup is read from /proc", () => {
  const { read } = new KernelTree({ "/proc/7/cgroup": PROC_CGROUP, "/proc/8/cgroup": "4:memory:/a:b\n" });
  equal(cgroupOf(7, 1, read), "/mem");
  equal(cgroupOf(7, 2, read), "/unified");
  equal(cgroupOf(8, 1, read), "/a:b");
  equal(cgroupOf(9, 1, read), undefined);
});

test("system cgroups: as configured where that is there, else where the process is", () => {
  const { read } = new KernelTree({ "/proc/self/cgroup": "4:memory:/own\n", "/proc/7/cgroup": "4:memory:/rt\n" });
  const parts = (there: readonly string[], settings: object) => ({
    settings: { kubeletCgroups: "", runtimeCgroups: "", systemCgroups: "", ...settings },
    reader: { version: 1 as const, exists: (path: string) => there.includes(path) },
    read,
    runtimePid: 7,
  });
  const configured = { kubeletCgroups: "/kubelet", runtimeCgroups: "docker", systemCgroups: "/system" };
  const named = (found: ReturnType<typeof systemCgroups>): string[] => found.map(({ name, path }) => `${name} ${path}`);
  deepEqual(named(systemCgroups(parts(["/kubelet", "/docker", "/system", "/pods"], configured), "/pods")), [
    "kubelet /kubelet",
    "runtime /docker",
    "misc /system",
    "pods /pods",
  ]);
  deepEqual(named(systemCgroups(parts(["/own", "/rt"], configured), undefined)), ["kubelet /own", "runtime /rt"]);
  deepEqual(named(systemCgroups(parts(["/own"], {}), undefined)), ["kubelet /own"]);
});

const UNIX = `Num       RefCount Protocol Flags    Type St Inode Path
0: 00000002 00000000 00010000 0001 01 111 /run/containerd/containerd.sock.ttrpc
0: 00000003 00000000 00000000 0001 03 222 /run/containerd/containerd.sock
0: 00000002 00000000 00010000 0001 01 333 /run/containerd/containerd.sock
`;

test("the listening socket of a path, not a connection to it", () => {
  equal(listeningInode(UNIX, "/run/containerd/containerd.sock"), "333");
  equal(listeningInode(UNIX, "/run/other.sock"), undefined);
});

test("the runtime's process is remembered while it lives, and looked for once a minute while it is not there", () => {
  const files: Record<string, string> = {};
  let now = 0;
  let looks = 0;
  let pid: number | undefined;
  const owner = (): number | undefined => (looks++, pid);
  const process = new RuntimeProcess(
    "unix:///run/x",
    new KernelTree(files).read,
    { monotonic: () => monotonicTime(now) },
    owner,
  );
  equal(process.pid(), undefined);
  equal(process.pid(), undefined);
  equal(looks, 1);
  pid = 7;
  files["/proc/7/comm"] = "containerd\n";
  now += 60_000;
  equal(process.pid(), 7);
  now += 600_000;
  equal(process.pid(), 7);
  equal(looks, 2);
  // Its id was given to another.
  files["/proc/7/comm"] = "cat\n";
  pid = 9;
  files["/proc/9/comm"] = "containerd\n";
  equal(process.pid(), 9);
});
