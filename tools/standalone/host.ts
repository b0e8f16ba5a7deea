// Inspects the machine for the options that containerd may use. The name of the distribution is never
// used to guess them.

import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./exec.js";
import { SetupProblem } from "./problem.js";

const CAP_SYS_RESOURCE = 24n;

/** Without CAP_SYS_RESOURCE no process may get a lower OOM score than its parent has. */
export async function hasSysResource(): Promise<boolean> {
  const status = await readFile("/proc/self/status", "utf8");
  const mask = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0";
  return ((BigInt(`0x${mask}`) >> CAP_SYS_RESOURCE) & 1n) === 1n;
}

export async function hasAppArmor(): Promise<boolean> {
  const enabled = await readFile("/sys/module/apparmor/parameters/enabled", "utf8").catch(() => "N");
  return enabled.startsWith("Y");
}

/** True when an overlay can be mounted below `directory`: not on an overlay itself, not on some network disks. */
export async function canMountOverlay(directory: string): Promise<boolean> {
  const probe = join(directory, "overlay-probe");
  const [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map((name) => join(probe, name));
  if (lower === undefined || upper === undefined || work === undefined || merged === undefined) return false;
  for (const folder of [lower, upper, work, merged]) await mkdir(folder, { recursive: true });
  try {
    const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
    await run("mount", ["-t", "overlay", "overlay", "-o", options, merged]);
    await run("umount", [merged]);
    return true;
  } catch {
    return false;
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}

export interface ContainerdVersion {
  major: number;
  minor: number;
  /** As printed: `1.6.20~ds1`. */
  text: string;
}

/** Output of `containerd --version`: `containerd <package> [v]1.6.20~ds1 <revision>`. */
export async function containerdVersion(binary: string): Promise<ContainerdVersion> {
  return parseContainerdVersion(await run(binary, ["--version"]));
}

export function parseContainerdVersion(output: string): ContainerdVersion {
  const match = /\s(v?(\d+)\.(\d+)\.\S+)/.exec(output);
  if (match?.[1] === undefined)
    throw new SetupProblem(`cannot read a version from \`containerd --version\`: ${output.trim()}`);
  return { major: Number(match[2]), minor: Number(match[3]), text: match[1] };
}
