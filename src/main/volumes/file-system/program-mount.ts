// File systems mounted by the mount program: directories of the node for local volumes, and what needs a helper (nfs).

import { ProgramError } from "../errors.js";
import { run } from "../program.js";
import { VolumeError } from "../volume-error.js";

export interface ProgramMount {
  source: string;
  target: string;
  /** "" for a bind mount. */
  type: string;
  options: readonly string[];
}

/** @throws VolumeError, ProgramError, or the signal's reason */
export async function mountByProgram(
  { source, target, type, options }: ProgramMount,
  signal: AbortSignal,
  runProgram = run,
): Promise<void> {
  const words = [...(type === "" ? [] : ["-t", type]), ...(options.length === 0 ? [] : ["-o", options.join(",")])];
  try {
    await runProgram("mount", [...words, "--", source, target], signal);
  } catch (error) {
    signal.throwIfAborted();
    const output = error instanceof ProgramError ? error.output : "";
    if (type !== "" && /\bhelper program\b|unknown filesystem type/.test(output))
      throw new VolumeError(
        `mounting ${type} needs the program mount.${type} on the node, which is not there: install it ` +
          `(${type === "nfs" ? "nfs-common on Debian, nfs-utils elsewhere" : `the tools of ${type}`})`,
        { cause: error },
      );
    throw error;
  }
}
