// After the start, warns once, by events of the Node, of machine settings that affect pods. They are a resolver file
// beyond the limits for pods, and memory-backed volumes that the kernel may swap to disk. Loaded when it runs.

import { mkdtemp, readFile, rmdir } from "node:fs/promises";
import { release } from "node:os";
import { join } from "node:path";
import { readRegularText } from "../../shared/io/fs/regular-file.js";
import { mount, unmount } from "../../shared/io/os/mount.js";
import type { EventReason } from "../../shared/kubernetes/api/event-reasons.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import { resolvConfProblem } from "../containers/network/resolv-conf-problem.js";
import { parseResolvConf } from "../containers/network/resolv-conf.js";
import type { EventRecorder } from "../model/event-recorder.js";
import { swapDevices } from "./swap.js";

export interface MachineSettings {
  /** "": pods get no resolver file. */
  resolvConf: string;
  clusterDomain: string;
  rootDir: string;
}

/** The machine, for tests of another. */
export interface MachineSources {
  /** Text of /proc/swaps. */
  swaps(): Promise<string>;
  /** "6.1.0-13-amd64" */
  kernel(): string;
  /** Whether a tmpfs can be mounted so that it is never swapped. Leaves nothing behind. */
  mountsNoSwap(rootDir: string): Promise<boolean>;
}

const SWAPPED =
  "The tmpfs noswap option is not supported. Memory-backed volumes (e.g. secrets, emptyDirs, etc.) might be swapped to " +
  "disk and should no longer be considered secure.";

export async function emitMachineWarnings(
  settings: MachineSettings,
  events: Pick<EventRecorder, "node">,
  machine: MachineSources = ownMachine,
): Promise<void> {
  const warn = (reason: EventReason, message: string | undefined): void => {
    if (message !== undefined) events.node({ type: "Warning", reason, message });
  };
  const [resolver, swapped] = await Promise.all([resolverProblem(settings), maySwapTmpfs(settings, machine)]);
  warn("CheckLimitsForResolvConf", resolver);
  warn("PossibleMemoryBackedVolumesOnDisk", swapped ? SWAPPED : undefined);
}

async function resolverProblem({ resolvConf, clusterDomain }: MachineSettings): Promise<string | undefined> {
  if (resolvConf === "") return undefined;
  try {
    return resolvConfProblem(resolvConf, parseResolvConf(await readRegularText(resolvConf)), clusterDomain);
  } catch (error) {
    return errorText(error);
  }
}

async function maySwapTmpfs({ rootDir }: MachineSettings, machine: MachineSources): Promise<boolean> {
  const swaps = await machine.swaps().catch(() => "");
  if (swapDevices(swaps).length === 0 || knowsNoSwap(machine.kernel())) return false;
  return !(await machine.mountsNoSwap(rootDir));
}

/** Since Linux 6.4; distributions have backported it, which a test call shows. */
function knowsNoSwap(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(/[^\d]/, 2).map(Number);
  return major > 6 || (major === 6 && minor >= 4);
}

const ownMachine: MachineSources = {
  swaps: () => readFile("/proc/swaps", "utf8"),
  kernel: release,
  async mountsNoSwap(rootDir) {
    const target = await mkdtemp(join(rootDir, "noswap-"));
    try {
      await mount({ source: "tmpfs", target, type: "tmpfs", flags: [], data: "noswap" });
      await unmount(target, ["noFollow"]);
      return true;
    } catch {
      return false;
    } finally {
      await rmdir(target);
    }
  },
};
