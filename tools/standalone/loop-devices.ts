// Loop devices keep their file open after the process that attached them has ended.

import { isCommandFailed, run } from "./exec.js";

/** Detaches every loop device whose file is below `directory`. */
export async function detachLoopDevicesOf(directory: string): Promise<void> {
  const list = await run("losetup", ["--list", "--noheadings", "--raw", "--output", "NAME,BACK-FILE"]).catch(
    (error: unknown) => {
      // No such program, or no loop devices in this kernel: then nothing is attached.
      if (isCommandFailed(error)) return "";
      throw error;
    },
  );
  for (const line of list.split("\n")) {
    const [device, file] = line.split(" ");
    if (device === undefined || file?.startsWith(`${directory}/`) !== true) continue;
    await run("losetup", ["--detach", device]);
  }
}
