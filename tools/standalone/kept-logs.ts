// The state folder is removed at the end of `npm start`, also after a failure. Its logs are what explains one.
// Invariant: one folder beside the state folder holds the logs of the last run that failed, and never more than those.

import { copyFile, lstat, mkdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { errnoOf, messageOf } from "./problem.js";

/** Where a failed run with this state folder leaves its logs. */
export function failedLogsDir(stateDir: string): string {
  return `${stateDir}.failed`;
}

export class KeptLogs {
  private readonly kept: string[] = [];
  private isEmptied = false;

  constructor(
    private readonly stateDir: string,
    private readonly say: (line: string) => unknown,
  ) {}

  /**
   * Moves logs out of the state folder; a program that still writes to one goes on there. A log that cannot be moved is
   * reported.
   */
  async keep(logs: readonly (string | undefined)[]): Promise<void> {
    for (const log of logs) if (log !== undefined) await this.keepOne(log);
  }

  /** Names the kept logs to the user. */
  announce(): void {
    if (this.kept.length > 0) this.say(`nodelet: kept until the next failure: ${this.kept.join(", ")}`);
  }

  private async keepOne(log: string): Promise<void> {
    try {
      const there = await lstat(log).catch((error: unknown) => {
        if (errnoOf(error) === "ENOENT") return undefined;
        throw error;
      });
      if (there === undefined || there.size === 0) return;
      const place = join(await this.folder(), basename(log));
      await move(log, place);
      this.kept.push(place);
    } catch (error) {
      this.say(`nodelet: ${log} is lost: ${messageOf(error)}`);
    }
  }

  /** The folder, empty at first: a log of an earlier failure beside one of this run would mislead. */
  private async folder(): Promise<string> {
    const dir = failedLogsDir(this.stateDir);
    if (this.isEmptied) return dir;
    await mkdir(dir, { mode: 0o700 }).catch((error: unknown) => {
      if (errnoOf(error) !== "EEXIST") throw error;
    });
    const found = await lstat(dir);
    if (!found.isDirectory() || found.uid !== process.getuid?.())
      throw new Error(`${dir} is not a folder of this user: remove it`);
    for (const name of LOGS) await rm(join(dir, name), { force: true });
    this.isEmptied = true;
    return dir;
  }
}

/** Names of all logs that a run may keep. */
const LOGS = ["kubelet.log", "containerd.log", "dockerd.log"] as const;

async function move(from: string, to: string): Promise<void> {
  await rename(from, to).catch(async (error: unknown) => {
    if (errnoOf(error) !== "EXDEV") throw error;
    await copyFile(from, to);
  });
}
