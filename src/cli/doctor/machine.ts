// Reads the facts of the machine that `nodelet doctor` judges. It changes nothing, and opens no connection but to ports
// of this machine.

import { readdir, realpath } from "node:fs/promises";
import { createConnection } from "node:net";
import { release } from "node:os";
import { systemClock } from "../../shared/base/clock/clock.js";
import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import { readDisks } from "../machine/disks.js";
import { findProgram } from "../machine/find-program.js";
import { isThere } from "../machine/is-there.js";
import type { KubeletConfig } from "../machine/kubelet-config.js";
import { readIfThere } from "../machine/read-if-there.js";
import { readCniFiles } from "../network/cni-files.js";
import { interfacesOfRouters } from "../network/ipv6-facts.js";
import { readAddresses6 } from "../network/ipv6.js";
import { unitOf } from "../problems.js";
import { readNode } from "../runtime/read-node.js";
import { CONTAINERD_SOCKET } from "../runtime/read-runtime.js";
import { DEFAULT_BIN_DIR, DEFAULT_CONF_DIR } from "../runtime/runtime-settings.js";
import { readUnitFacts } from "../runtime/unit-facts.js";
import type { Machine } from "./check.js";

const PORTS = [10250, 10255, 10248];
const DISKS = ["/", "/var/lib/kubelet", "/var/lib/containerd", "/var/lib/docker", "/var/log"];
const SYSCTLS = ["net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding", "net/bridge/bridge-nf-call-iptables"];
const RUNTIMES = [
  { unit: "containerd", endpoint: CONTAINERD_SOCKET },
  { unit: "docker", endpoint: "unix:///var/run/docker.sock" },
];
const PROGRAMS = ["containerd", "crio", "dockerd", "iptables"];
/** Where packages of distributions put CNI programs: Debian, Fedora, and upstream. */
const CNI_FOLDERS = ["/usr/lib/cni", "/usr/libexec/cni", DEFAULT_BIN_DIR];
const CONNECT_MS = 1000;

/** @param status absent when no kubelet answers */
export async function readMachine(status: NodeletStatus | undefined, config: KubeletConfig): Promise<Machine> {
  const network = readNetwork(status, config);
  const endpoint = network.then(({ kubelet }) => kubelet.runtimeEndpoint);
  const [
    cgroup,
    swaps,
    sysctls,
    modules,
    resolv,
    disks,
    ports,
    clock,
    runtimes,
    systemd,
    installed,
    apt,
    fromRouter,
    unit,
  ] = await Promise.all([
    cgroups(),
    readIfThere("/proc/swaps"),
    Promise.all(SYSCTLS.map(async (name) => [name, (await readIfThere(`/proc/sys/${name}`))?.trim()] as const)),
    kernelModules(),
    readIfThere("/etc/resolv.conf"),
    readDisks(DISKS, { clock: systemClock }),
    Promise.all(PORTS.map((port) => isTaken("127.0.0.1", port))),
    isSynchronised(),
    readRuntimes(status, endpoint),
    isThere("/run/systemd/system"),
    Promise.all(PROGRAMS.map((name) => findProgram(name))),
    findProgram("apt-get"),
    readIfThere("/proc/net/if_inet6").then((known) => interfacesOfRouters(readAddresses6(known ?? ""))),
    readUnitFacts(),
  ]);
  return {
    kernel: release(),
    node: process.version,
    uid: process.getuid?.() ?? -1,
    ...cgroup,
    swaps: lines(swaps)
      .slice(1)
      .map((line) => line.split(/\s/)[0] ?? line),
    sysctls: Object.fromEntries(sysctls),
    fromRouter,
    modules,
    unit,
    ...(await network),
    installed: PROGRAMS.filter((_name, index) => installed[index] !== undefined),
    packages: apt === undefined ? "dnf" : "apt",
    nameServers: lines(resolv).flatMap((line) => {
      const [word, address] = line.trim().split(/\s+/, 2);
      return word === "nameserver" && address !== undefined ? [address] : [];
    }),
    disks,
    ports: PORTS.filter((_port, index) => ports[index] === true),
    clockSynchronised: clock,
    runtimes,
    systemd,
    nextStart: status === undefined ? config : undefined,
  };
}

type NetworkFacts = Pick<
  Machine,
  "mode" | "settings" | "kubelet" | "cniFiles" | "cniPrograms" | "otherCniPrograms" | "looksInPluginFolder"
>;

async function readNetwork(status: NodeletStatus | undefined, config: KubeletConfig): Promise<NetworkFacts> {
  const { mode, settings, kubelet } = await readNode(config, status);
  const binDirs = settings?.binDirs ?? [DEFAULT_BIN_DIR];
  const searched = await Promise.all(binDirs.map(realFolder));
  const real = await Promise.all(CNI_FOLDERS.map(realFolder));
  const others = CNI_FOLDERS.filter((_folder, index) => !searched.includes(real[index] ?? ""));
  const [cniFiles, cniPrograms, elsewhere] = await Promise.all([
    readCniFiles(settings?.confDir ?? DEFAULT_CONF_DIR),
    Promise.all(binDirs.map(names)),
    Promise.all(others.map(async (folder) => ({ folder, programs: await names(folder) }))),
  ]);
  return {
    mode,
    settings,
    kubelet,
    cniFiles,
    cniPrograms: cniPrograms.flat(),
    otherCniPrograms: elsewhere.filter(({ programs }) => programs.length > 0),
    looksInPluginFolder: !others.includes(DEFAULT_BIN_DIR),
  };
}

/** Without links; the name itself if there is no such folder. */
function realFolder(folder: string): Promise<string> {
  return realpath(folder).catch(() => folder);
}

async function cgroups(): Promise<Pick<Machine, "cgroupVersion" | "controllers">> {
  const second = await readIfThere("/sys/fs/cgroup/cgroup.controllers");
  if (second !== undefined) return { cgroupVersion: 2, controllers: second.trim().split(/\s+/) };
  const rows = lines(await readIfThere("/proc/cgroups")).filter((line) => !line.startsWith("#"));
  const enabled = rows.map((line) => line.split(/\s+/)).filter((fields) => fields[3] === "1");
  const controllers = enabled.map(([name = ""]) => name);
  return { cgroupVersion: controllers.length > 0 ? 1 : undefined, controllers };
}

/** File systems and modules that the kernel has now. */
async function kernelModules(): Promise<string[]> {
  const [modules, fileSystems] = await Promise.all([readIfThere("/proc/modules"), readIfThere("/proc/filesystems")]);
  return [
    ...lines(modules).map((line) => line.split(" ")[0] ?? ""),
    ...lines(fileSystems).map((line) => line.replace(/^nodev/, "").trim()),
  ];
}

async function readRuntimes(
  status: NodeletStatus | undefined,
  endpoint: Promise<string>,
): Promise<Machine["runtimes"]> {
  const all = runtimesOf(status, await endpoint);
  return Promise.all(all.map(async (one) => ({ ...one, answers: await answers(one.endpoint) })));
}

/**
 * @param endpoint of the kubelet's configuration: without another one, the next kubelet may use any runtime that is
 *   there
 */
function runtimesOf(status: NodeletStatus | undefined, endpoint: string): { unit: string; endpoint: string }[] {
  if (status !== undefined) {
    return [{ unit: unitOf(status), endpoint: status.docker?.endpoint ?? status.runtimeEndpoint }];
  }
  if (endpoint === CONTAINERD_SOCKET) return RUNTIMES;
  return [{ unit: endpoint.includes("crio") ? "crio" : "containerd", endpoint }];
}

/** A unix socket answers if it is there. A configuration may name a path alone, or anything else. */
async function answers(endpoint: string): Promise<boolean> {
  if (!URL.canParse(endpoint)) return isThere(endpoint);
  const { protocol, hostname, port, pathname } = new URL(endpoint);
  return protocol === "tcp:" ? isTaken(hostname, Number(port)) : isThere(pathname);
}

function isTaken(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port, timeout: CONNECT_MS });
    const settle = (taken: boolean): void => {
      socket.destroy();
      resolve(taken);
    };
    socket
      .once("connect", () => settle(true))
      .once("error", () => settle(false))
      .once("timeout", () => settle(false));
  });
}

/** systemd-timesyncd and chrony leave marks; without them nothing is known. */
async function isSynchronised(): Promise<boolean | undefined> {
  if (await isThere("/run/systemd/timesync/synchronized")) return true;
  if (await isThere("/run/chrony/chronyd.pid")) return true;
  return (await isThere("/run/systemd/timesync")) ? false : undefined;
}

async function names(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

function lines(content: string | undefined): string[] {
  return (content ?? "").split("\n").filter((line) => line.trim() !== "");
}
