// The files that the machine has before the first start: those of the kernel, and folders.

import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import { NODE_NAME } from "./api.js";
import type { NodeShape } from "./node-shape.js";
import { makeTopologyFiles } from "./topology-files.js";

export const ROOT = "/var/lib/kubelet";
export const MANIFESTS = "/etc/kubernetes/manifests";
export const KUBECONFIG = "/etc/kubernetes/kubelet.conf";
export const LOGS = "/var/log/pods";
export const CGROUP_ROOT = "/sys/fs/cgroup";
export const CONTAINER_LOGS = "/var/log/containers";

let boots = 0;

export function makeMachineFiles({ layout, hasPodCgroups }: NodeShape): void {
  for (const path of ["/tmp", MANIFESTS, LOGS, CONTAINER_LOGS, ROOT, "/var/lib/containerd", "/run/containerd"]) {
    disk.directory(path);
  }
  for (const path of ["/dev", "/sys/fs/cgroup", "/proc/sys/kernel", "/proc/self/fd", "/sys/kernel/mm"])
    disk.directory(path);
  if (hasPodCgroups) disk.cgroupRoot(CGROUP_ROOT);
  disk.file("/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
  disk.file("/etc/os-release", 'PRETTY_NAME="Simulated"\n');
  disk.file("/etc/hosts", "127.0.0.1 localhost\n");
  disk.file("/etc/resolv.conf", "nameserver 192.0.2.53\n");
  disk.file(
    KUBECONFIG,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster: { server: "http://api.simulated:8080" } }],
      users: [{ name: NODE_NAME, user: {} }],
      contexts: [{ name: "c", context: { cluster: "c", user: NODE_NAME } }],
      "current-context": "c",
    }),
  );
  disk.kernelFile("/proc/self/mountinfo", () => disk.tree.mountTable());
  disk.kernelFile("/proc/self/cgroup", () => "0::/system.slice/kubelet.service\n");
  disk.kernelFile("/proc/self/status", () => "Name:\tnode\nUmask:\t0022\n");
  disk.kernelFile(
    "/proc/sys/kernel/random/boot_id",
    () => `${boots.toString().padStart(8, "0")}-0000-4000-8000-000000000000\n`,
  );
  // Each thread of the agent takes itself for the main thread.
  disk.kernelFile(`/proc/self/task/${process.pid}/stat`, () => "4242 (node) S 1 1 1 0 -1 0 0 0 0 0 120 30 0 0 20 0\n");
  disk.kernelFile("/proc/sys/kernel/osrelease", () => "6.12.0-simulated\n");
  disk.kernelFile("/proc/sys/kernel/pid_max", () => "4194304\n");
  disk.kernelFile("/proc/sys/kernel/threads-max", () => "120000\n");
  disk.kernelFile("/proc/loadavg", () => "0.10 0.10 0.10 1/200 4242\n");
  disk.kernelFile("/proc/swaps", () => "Filename\tType\tSize\tUsed\tPriority\n");
  disk.kernelFile(
    "/proc/meminfo",
    () => "MemTotal: 16777216 kB\nMemFree: 8388608 kB\nMemAvailable: 12582912 kB\nSwapTotal: 0 kB\n",
  );
  disk.kernelFile("/proc/stat", () => {
    // Half of the time all processors are busy, so that the limit of PodSandboxes moves both ways.
    const ticks = Math.floor(kernel.monotonic / 10);
    const idle = Math.floor(ticks / 200) * 100 + Math.min(100, ticks % 200);
    return `cpu ${ticks - idle} 0 0 ${idle} 0 0 0 0 0 0\nbtime ${Math.floor(kernel.wall / 1000) - 3600}\n`;
  });
  disk.kernelFile("/proc/cpuinfo", () => "processor : 0\nphysical id : 0\ncore id : 0\n");
  disk.kernelFile("/proc/vmstat", () => "oom_kill 0\n");
  disk.kernelFile("/sys/fs/cgroup/cgroup.controllers", () => "cpuset cpu io memory hugetlb pids\n");
  disk.kernelFile("/sys/fs/cgroup/memory.stat", () => "anon 1000000\ninactive_file 1000000\n");
  disk.kernelFile("/sys/fs/cgroup/cpu.stat", () => "usage_usec 1000000\n");
  if (layout !== undefined) makeTopologyFiles(layout);
  disk.syncAll();
}

/** The machine has a new boot ID from now on. */
export function bootAnew(): void {
  boots++;
}
