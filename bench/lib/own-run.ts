// A bench measures in a process of its own, in a network namespace of its own. However the two end, nothing stays
// behind: this process removes what the run made, or the next run does.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { inNetns } from "../../tools/standalone/netns.js";
import { openRun } from "../../tools/standalone/runs.js";
import { STOPPED, watchSignals } from "../../tools/standalone/signals.js";
import { BENCH_FOLDER } from "./places.js";

const MEMORY = "/run";

/**
 * Runs a program of this Node inside a run; returns its exit status. The first signal ends it and all that it started;
 * a second one ends this process at once, and leaves the rest to the next run.
 * @throws SetupProblem
 */
export async function measureInOwnRun(
  name: string,
  program: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const say = (line: string): void => console.error(line);
  const signals = watchSignals(say);
  const { stopped } = signals;
  signals.hurried.addEventListener("abort", () => process.exit(STOPPED));
  try {
    const run = await openRun(say);
    try {
      const { netns, dir } = await run.place(name);
      const places = { TMPDIR: dir, [BENCH_FOLDER]: await run.folder(MEMORY) };
      stopped.throwIfAborted();
      const { command, args } = inNetns(netns, process.execPath, program);
      const child = spawn(command, args, { stdio: "inherit", env: { ...process.env, ...env, ...places } });
      const [status] = (await once(child, "exit", { signal: stopped })) as [number | null];
      return status ?? 1;
    } catch (error) {
      if (stopped.aborted) return STOPPED;
      throw error;
    } finally {
      await run.remove();
    }
  } finally {
    signals.unwatch();
  }
}
