// Another kubelet holds a loop device on each block volume that it maps; a volume that this kubelet took over from it can't be
// unpublished before that is gone.
import { readdir, readFile } from "node:fs/promises";
import { run } from "../program.js";
import { errorCode } from "../../../shared/errors/error-code.js";

const DEVICES = "/sys/block";

/** Loop devices on that very file; most often none. @throws ProgramError, or the signal's reason */
export async function releaseLoops(path: string, signal: AbortSignal): Promise<void> {
  for (const name of await readdir(DEVICES)) {
    if (!name.startsWith("loop")) continue;
    if ((await backingFile(name)) === path) await run("losetup", ["-d", `/dev/${name}`], signal);
  }
}

async function backingFile(name: string): Promise<string | undefined> {
  try {
    return (await readFile(`${DEVICES}/${name}/loop/backing_file`, "utf8")).trimEnd();
  } catch (error) {
    if (["ENOENT", "ENXIO", "ENODEV"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}
