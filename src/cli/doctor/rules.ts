// The checks of `nodelet doctor`: the finding, the reason why it matters, and the command that mends it. Pure.
import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import { FIT_NODE, nodeVersionProblem } from "../../shared/text/node-version.js";
import { problemsOf } from "../problems.js";
import type { Machine, Result } from "./check.js";

const ok = (check: string, found: string): Result => ({ severity: "ok", check, found });
const bad = (severity: "warning" | "error", check: string, found: string, why: string, fix: string): Result => ({
  ...{ severity, check, found, why, fix },
});

/** `status`: absent when no kubelet answers, which is no fault before the first start. */
export function judge(machine: Machine, status: NodeletStatus | undefined): Result[] {
  return [
    kernel(machine),
    node(status?.nodeVersion ?? machine.node),
    root(machine),
    ...cgroups(machine),
    swap(machine),
    ...network(machine),
    ...cni(machine, status),
    runtime(machine, status),
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
    ...(status === undefined ? [ok("kubelet", "does not respond on the socket")] : ofKubelet(status)),
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

function cgroups({ cgroupVersion, controllers }: Machine): Result[] {
  if (cgroupVersion === undefined) {
    return [bad("error", "cgroups", "not mounted", "no pod can be limited", "mount -t cgroup2 none /sys/fs/cgroup")];
  }
  const version =
    cgroupVersion === 2
      ? ok("cgroups", "version 2")
      : bad(
          "warning",
          "cgroups",
          "version 1",
          "the kubelet refuses it unless failCgroupV1 is false; memory QoS and swap limits need version 2",
          "add systemd.unified_cgroup_hierarchy=1 to the kernel's command line and reboot",
        );
  const missing = ["cpu", "cpuset", "memory", "pids"].filter((name) => !controllers.includes(name));
  if (missing.length === 0) return [version, ok("cgroup controllers", controllers.join(" "))];
  const fix = missing.includes("memory")
    ? "add cgroup_enable=memory to the kernel's command line and reboot"
    : "enable them in the kernel's configuration";
  return [
    version,
    bad("error", "cgroup controllers", `missing: ${missing.join(" ")}`, "limits and requests of pods need them", fix),
  ];
}

function swap({ swaps }: Machine): Result {
  if (swaps.length === 0) return ok("swap", "off");
  const why = "the kubelet does not start with swap, unless failSwapOn is false";
  return bad("warning", "swap", swaps.join(", "), why, "swapoff -a, and remove it from /etc/fstab");
}

function network({ sysctls, modules }: Machine): Result[] {
  const forward = sysctls["net/ipv4/ip_forward"];
  const bridge = sysctls["net/bridge/bridge-nf-call-iptables"];
  const overlay = modules.includes("overlay");
  return [
    forward === "1"
      ? ok("net.ipv4.ip_forward", "1")
      : bad(
          "error",
          "net.ipv4.ip_forward",
          forward ?? "not readable",
          "pods reach nothing outside the node",
          "sysctl -w net.ipv4.ip_forward=1, and write it to /etc/sysctl.d/k8s.conf",
        ),
    bridge === "1"
      ? ok("net.bridge.bridge-nf-call-iptables", "1")
      : bad(
          "warning",
          "net.bridge.bridge-nf-call-iptables",
          bridge ?? "the module br_netfilter is not loaded",
          "services do not work between pods of one bridge, with network plugins that use a bridge and iptables",
          "modprobe br_netfilter && sysctl -w net.bridge.bridge-nf-call-iptables=1",
        ),
    overlay
      ? ok("overlay", "in the kernel")
      : bad(
          "error",
          "overlay",
          "the kernel has no overlay file system",
          "the images of containerd and Docker need it",
          "modprobe overlay, and add it to /etc/modules-load.d/k8s.conf",
        ),
  ];
}

function cni({ cni: { confDir, binDirs }, cniConfigs, cniPrograms }: Machine, status?: NodeletStatus): Result[] {
  if (status?.docker?.network.plugin === "none") return [ok("CNI", "not needed: --network-plugin=none")];
  const programs = binDirs.join(", ");
  return [
    cniConfigs.length > 0
      ? ok("CNI configuration", cniConfigs.join(", "))
      : bad(
          "warning",
          "CNI configuration",
          `${confDir} has none`,
          "only pods with hostNetwork start",
          "install a network plugin; a runtime may use another directory",
        ),
    cniPrograms.includes("loopback")
      ? ok("CNI programs", `${cniPrograms.length} in ${programs}`)
      : bad(
          "warning",
          "CNI programs",
          `loopback is missing in ${programs}`,
          "the runtime cannot set up the network of a pod",
          "apt-get install containernetworking-plugins; a runtime may use another directory",
        ),
  ];
}

function runtime({ runtimes }: Machine, status: NodeletStatus | undefined): Result {
  const known = status?.facts?.runtime;
  if (known?.reachable === true)
    return ok("runtime", `${known.name} ${known.version} at ${status?.runtimeEndpoint ?? ""}`);
  const found = runtimes.filter(({ answers }) => answers);
  if (found.length > 0) return ok("runtime", `a socket at ${endpointsOf(found)}`);
  const [first, ...others] = runtimes.map(({ unit }) => unit);
  const also = others.map((unit) => `; or ${unit}, with the kubelet's flag --container-runtime=${unit}`).join("");
  const fix = `systemctl enable --now ${first ?? ""}${also}`;
  return bad("error", "runtime", `no socket at ${endpointsOf(runtimes)}`, "no pod can start", fix);
}

function endpointsOf(runtimes: Machine["runtimes"]): string {
  return runtimes.map(({ endpoint }) => endpoint).join(" or ");
}

function dns({ nameServers }: Machine): Result {
  const loop = nameServers.filter((address) => /^127\.|^::1$/.test(address));
  if (nameServers.length === 0) {
    return bad(
      "warning",
      "DNS",
      "resolv.conf has no name server",
      "image registries do not resolve",
      "add a nameserver line to /etc/resolv.conf",
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

function disk({ path, freePercent, freeInodesPercent }: Machine["disks"][number]): Result {
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
