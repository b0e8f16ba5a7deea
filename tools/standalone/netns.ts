// Tests run real pods and must not reach the world. Their own network namespace has a loopback, the bridge of their
// containerd, and a default route without external connections.
// Invariant: programs enter with nsenter, which changes the network only; `ip netns exec` would mount a new /sys and
// hide the cgroup file systems from a kubelet. The kubelet and its containerd share one namespace, or it could not
// reach its pods.

import { access, readlink } from "node:fs/promises";
import { CommandFailed, run } from "./exec.js";

const path = (name: string): string => `/run/netns/${name}`;

/** Makes the namespace: `lo` up; every address that is not local is unreachable at once, without a timeout. */
export async function createNetns(name: string): Promise<void> {
  await run("ip", ["netns", "add", name]);
  try {
    await run("ip", ["-n", name, "link", "set", "lo", "up"]);
    await run("ip", ["-n", name, "route", "add", "unreachable", "default"]);
    // Kernels without IPv6 have no such table; then nothing needs closing.
    await run("ip", ["-n", name, "-6", "route", "add", "unreachable", "default"]).catch(ignoreCommandFailure);
  } catch (error) {
    await deleteNetns(name);
    throw error;
  }
}

/** Deletes the namespace if it is there. It lives on while a process is inside. */
export async function deleteNetns(name: string): Promise<void> {
  if (await netnsExists(name)) await run("ip", ["netns", "delete", name]);
}

export function netnsExists(name: string): Promise<boolean> {
  return access(path(name)).then(
    () => true,
    () => false,
  );
}

/** The identity of the namespace this process is in: `net:[4026531840]`. */
export function currentNetns(): Promise<string> {
  return readlink("/proc/self/ns/net");
}

/** A command as it is to be started so that it runs in the namespace; unchanged when there is none. */
export function inNetns(
  netns: string | undefined,
  command: string,
  args: readonly string[],
): { command: string; args: string[] } {
  if (netns === undefined) return { command, args: [...args] };
  return { command: "nsenter", args: [`--net=${path(netns)}`, command, ...args] };
}

/** Runs a tool to its end inside the namespace; see exec.ts. */
export function runInNetns(netns: string | undefined, command: string, args: readonly string[]): Promise<string> {
  const entered = inNetns(netns, command, args);
  return run(entered.command, entered.args);
}

function ignoreCommandFailure(error: unknown): void {
  if (!(error instanceof CommandFailed)) throw error;
}
