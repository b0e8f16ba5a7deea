// The block device of a mapped volume: its symbolic links, and a loop device, as upstream's kubelet makes it. The loop
// device keeps the disk open, so that the kernel gives the disk's name to no other disk. It may be another kubelet's,
// and is removed before the volume is detached.

import { readdir, readFile } from "node:fs/promises";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { run } from "./program.js";

const DEVICES = "/sys/block";

/** Loop devices on that very file; most often none. @throws ProgramError, or the signal's reason */
export async function releaseLoops(path: string, signal?: AbortSignal): Promise<void> {
  for (const name of await loopsOn(path)) await run("losetup", ["-d", `/dev/${name}`], signal);
}

/** Idempotent. @throws ProgramError, or the signal's reason */
export async function holdDevice(path: string, signal: AbortSignal): Promise<void> {
  if ((await loopsOn(path)).length === 0) await run("losetup", ["-f", path], signal);
}

async function loopsOn(path: string): Promise<string[]> {
  const loops = (await readdir(DEVICES)).filter((name) => name.startsWith("loop"));
  const files = await Promise.all(loops.map(async (name) => ({ name, file: await backingFile(name) })));
  return files.filter(({ file }) => file === path).map(({ name }) => name);
}

async function backingFile(name: string): Promise<string | undefined> {
  try {
    return (await readFile(`${DEVICES}/${name}/loop/backing_file`, "utf8")).trimEnd();
  } catch (error) {
    if (["ENOENT", "ENXIO", "ENODEV"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}
