// The checks of `nodelet doctor`: the finding, the reason why it matters, and the command that mends it. Pure.

import { FIT_NODE, nodeVersionProblem } from "../../shared/base/text/node-version.js";
import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import { problemsOf } from "../problems.js";
import { cgroupDriver } from "./cgroup-driver.js";
import { bad, ok, type Machine, type Result } from "./check.js";
import { cniConfiguration } from "./cni-configuration.js";
import { cniPrograms } from "./cni-programs.js";
import { bridgeTraffic, ipForward, ipv6Forward } from "./forwarding.js";
import { kernelArgument } from "./kernel-argument.js";
import { runtime } from "./runtime.js";
import { cgroupVersion, swap } from "./start-refusals.js";
import { unitMode } from "./unit-mode.js";

/** `status`: absent when no kubelet answers. */
export function judge(machine: Machine, status: NodeletStatus | undefined): Result[] {
  return [
    kernel(machine),
    node(status?.nodeVersion ?? machine.node),
    root(machine),
    ...cgroups(machine),
    swap(machine),
    ipForward(machine),
    ...ipv6Forward(machine),
    bridgeTraffic(machine),
    overlay(machine),
    ...(status?.docker?.network.plugin === "none"
      ? [ok("CNI", "not needed: --network-plugin=none")]
      : [cniConfiguration(machine), ...cniPrograms(machine)]),
    runtime(machine, status),
    ...cgroupDriver(machine),
    dns(machine),
    clock(machine),
    ...machine.disks.map(disk),
    ...ports(machine, status),
    machine.systemd
      ? ok("systemd", "runs")
      : bad(
          "warning",
          "systemd",
          "does not run",
          "nothing restarts the kubelet when it exits",
          "run the kubelet under a supervisor",
        ),
    ...unitMode(machine, status),
    ...(status === undefined ? [] : ofKubelet(status)),
  ];
}

function kernel({ kernel: version }: Machine): Result {
  const [major = 0, minor = 0] = version.split(".").map((part) => parseInt(part, 10));
  if (major > 5 || (major === 5 && minor >= 4)) return ok("kernel", version);
  return bad(
    "warning",
    "kernel",
    version,
    "Kubernetes 1.36 is tested on 5.4 and newer",
    "apt-get install --only-upgrade linux-image-amd64",
  );
}

function node(version: string): Result {
  const problem = nodeVersionProblem(version);
  return problem === undefined
    ? ok("Node.js", version)
    : bad("warning", "Node.js", version, problem, `install ${FIT_NODE}`);
}

function root({ uid }: Machine): Result {
  return uid === 0
    ? ok("user", "root")
    : bad("warning", "user", `uid ${uid}`, "some checks need root", "sudo nodelet doctor");
}

function cgroups(machine: Machine): Result[] {
  const { controllers } = machine;
  if (machine.cgroupVersion === undefined) {
    return [bad("error", "cgroups", "not mounted", "no pod can be limited", "mount -t cgroup2 none /sys/fs/cgroup")];
  }
  const version = cgroupVersion(machine);
  const missing = ["cpu", "cpuset", "memory", "pids"].filter((name) => !controllers.includes(name));
  if (missing.length === 0) return [version, ok("cgroup controllers", controllers.join(" "))];
  const fix = missing.includes("memory")
    ? kernelArgument("cgroup_enable=memory")
    : "enable them in the kernel's configuration";
  return [
    version,
    bad("error", "cgroup controllers", `missing: ${missing.join(" ")}`, "limits and requests of pods need them", fix),
  ];
}

function overlay({ modules }: Machine): Result {
  if (modules.includes("overlay")) return ok("overlay", "in the kernel");
  return bad(
    "error",
    "overlay",
    "the kernel has no overlay file system",
    "the images of containerd and Docker need it",
    "modprobe overlay && echo overlay >/etc/modules-load.d/k8s.conf",
  );
}

function dns({ nameServers }: Machine): Result {
  const loop = nameServers.filter((address) => /^127\.|^::1$/.test(address));
  if (nameServers.length === 0) {
    return bad(
      "warning",
      "DNS",
      "resolv.conf has no name server",
      "image registries do not resolve",
      "echo nameserver 9.9.9.9 >>/etc/resolv.conf",
    );
  }
  if (loop.length === 0) return ok("DNS", nameServers.join(", "));
  return bad(
    "warning",
    "DNS",
    `the name server is ${loop.join(", ")}`,
    "inside a pod this address is the pod itself: its lookups fail, and CoreDNS queries itself in a loop",
    "set resolvConf: /run/systemd/resolve/resolv.conf in the kubelet's configuration",
  );
}

function clock({ clockSynchronised }: Machine): Result {
  if (clockSynchronised === true) return ok("clock", "follows a time server");
  const found =
    clockSynchronised === undefined ? "not known whether it follows a time server" : "does not follow a time server";
  return bad(
    "warning",
    "clock",
    found,
    "certificates and tokens are refused when clocks differ",
    "timedatectl set-ntp true",
  );
}

function disk({ path, freePercent, freeInodesPercent, hangs }: Machine["disks"][number]): Result {
  if (hangs === true) {
    const why = "programs that use it wait, the kubelet's volumes and the runtime too";
    return bad("error", `disk ${path}`, "does not respond", why, `findmnt --target ${path}`);
  }
  const found = `${freePercent} % free, ${freeInodesPercent} % of inodes free`;
  const check = `disk ${path}`;
  const why = "below 10 % (15 % of the images' disk) the kubelet evicts pods";
  if (freePercent < 10 || freeInodesPercent < 5)
    return bad("error", check, found, why, `du -xh ${path} | sort -h | tail -20`);
  return freePercent < 15 ? bad("warning", check, found, why, `du -xh ${path} | sort -h | tail -20`) : ok(check, found);
}

function ports({ ports: taken }: Machine, status: NodeletStatus | undefined): Result[] {
  if (status !== undefined) return [];
  if (taken.length === 0) return [ok("ports", "10250, 10255 and 10248 are free")];
  const found = `${taken.join(", ")} in use`;
  return [
    bad(
      "warning",
      "ports",
      found,
      "the kubelet cannot listen there",
      `ss -tlnp | grep -E '${taken.map((port) => `:${port}`).join("|")}'`,
    ),
  ];
}

function ofKubelet(status: NodeletStatus): Result[] {
  const problems = problemsOf(status);
  if (problems.length === 0) return [ok("kubelet", `${status.kubernetesVersion}, nothing is wrong`)];
  return problems.map(({ severity, what, help }) => ({
    severity,
    check: "kubelet",
    found: what,
    why: "see nodelet status",
    fix: help,
  }));
}
