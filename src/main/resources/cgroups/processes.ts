// Names for PIDs, so that a log line about a killed process tells what it was.
import { readValue } from "./cgroup-files.js";

const SHOWN = 20;

/** "1234 (sleep)" for the first 20; a process gone meanwhile shows as "1234 (gone)". */
export async function describeProcesses(pids: readonly number[]): Promise<string[]> {
  const shown = await Promise.all(
    pids
      .slice(0, SHOWN)
      .map(async (pid) => `${pid} (${(await readValue(`/proc/${pid}/comm`).catch(() => undefined)) ?? "gone"})`),
  );
  return pids.length > SHOWN ? [...shown, `and ${pids.length - SHOWN} more`] : shown;
}
