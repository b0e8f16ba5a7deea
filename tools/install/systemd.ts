// Calls of systemctl by the installer, on machines that run systemd.

import { access, readFile } from "node:fs/promises";
import { run } from "../standalone/exec.js";

const UNIT = "kubelet.service";

/** True when systemd is there and has read its units again. */
export async function reloadSystemd(): Promise<boolean> {
  if (!(await isSystemdThere())) return false;
  await run("systemctl", ["daemon-reload"]);
  return true;
}

/** Stops the agent and its start at boot; containers run on. */
export async function stopUnit(): Promise<void> {
  if (await isSystemdThere()) await run("systemctl", ["disable", "--now", UNIT], { timeoutMs: 120_000 });
}

/** After its file is gone: systemd forgets the unit and a failure of it. */
export async function forgetUnit(): Promise<void> {
  if (!(await reloadSystemd())) return;
  // Answers with an error when there is nothing to forget.
  await run("systemctl", ["reset-failed", UNIT]).catch(() => undefined);
}

/** Ends a slice in which nothing runs; one in use is left, for stopping it would end what runs in it. */
export async function stopEmptySlice(slice: string): Promise<void> {
  const events = await readFile(`/sys/fs/cgroup/${slice}/cgroup.events`, "utf8").catch(() => "");
  if (/^populated 0$/m.test(events) && (await isSystemdThere())) await run("systemctl", ["stop", slice]);
}

/** systemd's own test for "booted with systemd". */
function isSystemdThere(): Promise<boolean> {
  return access("/run/systemd/system").then(
    () => true,
    () => false,
  );
}
