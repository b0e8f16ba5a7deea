// The result of one check of `nodelet doctor`, and the facts of the machine that checks judge. Checks are pure.

import type { Disk } from "../machine/disks.js";
import type { KubeletConfig } from "../machine/kubelet-config.js";
import type { NodeMode } from "../machine/node-mode.js";
import type { CniFiles } from "../network/cni-files.js";
import type { KubeletSettings } from "../runtime/read-node.js";
import type { RuntimeSettings } from "../runtime/runtime-settings.js";
import type { UnitFacts } from "../runtime/unit-facts.js";

/** Why a kubelet refuses to start. */
type StartConfig = Pick<KubeletConfig, "file" | "failCgroupV1" | "failSwapOn">;

export interface Result {
  severity: "ok" | "warning" | "error";
  check: string;
  /** The finding, as one sentence. */
  found: string;
  /** The reason why it matters; absent if the check passed. */
  why?: string;
  /** The command that mends it. */
  fix?: string;
}

export const ok = (check: string, found: string): Result => ({ severity: "ok", check, found });
export const bad = (severity: "warning" | "error", check: string, found: string, why: string, fix: string): Result => ({
  severity,
  check,
  found,
  why,
  fix,
});

interface CniFolder {
  folder: string;
  programs: readonly string[];
}

/** Texts and figures of the machine; undefined: could not be read. */
export interface Machine {
  kernel: string;
  /** Node.js of this command: "v24.21.0". A kubelet that answers names its own. */
  node: string;
  uid: number;
  cgroupVersion: 1 | 2 | undefined;
  /** Enabled controllers: cgroup.controllers on cgroup v2, /proc/cgroups on v1. */
  controllers: readonly string[];
  /** /proc/swaps without its head line. */
  swaps: readonly string[];
  /** By name with slashes: "net/ipv4/ip_forward". */
  sysctls: Readonly<Record<string, string | undefined>>;
  /** Interfaces whose IPv6 routes come from a router, and would go if the kernel forwards. */
  fromRouter: readonly string[];
  /** Loaded or built in. */
  modules: readonly string[];
  mode: NodeMode;
  /** undefined: the runtime is not installed, or does not say. */
  settings: RuntimeSettings | undefined;
  kubelet: KubeletSettings;
  /** Those of the folder in which the runtime looks. */
  cniFiles: CniFiles;
  /** Names in the folders in which the runtime looks. */
  cniPrograms: readonly string[];
  /** Folders with CNI programs in which the runtime does not look. */
  otherCniPrograms: readonly CniFolder[];
  /**
   * Whether the runtime looks in /opt/cni/bin, by this name or through a link. Network plugins of clusters put their
   * programs there.
   */
  looksInPluginFolder: boolean;
  /** Those of containerd, crio, dockerd and iptables that are on the machine. */
  installed: readonly string[];
  packages: "apt" | "dnf";
  nameServers: readonly string[];
  /** By path. */
  disks: readonly Disk[];
  /** Those of the ports 10250, 10255 and 10248 on which something listens. */
  ports: readonly number[];
  /** Whether the clock follows a time server; undefined: unknown. */
  clockSynchronised: boolean | undefined;
  /** That of the kubelet; without a kubelet, those that it may use. */
  runtimes: readonly { unit: string; endpoint: string; answers: boolean }[];
  systemd: boolean;
  /** undefined: the unit is not that of a package. */
  unit: UnitFacts | undefined;
  /** The configuration with which the next kubelet starts; undefined: one runs. */
  nextStart: StartConfig | undefined;
}
