// The parent cgroup of a pod's containers, as docker takes it. Pure.

import { basename } from "node:path";

export type CgroupDriverName = "cgroupfs" | "systemd";

/** docker's systemd driver takes the slice's name, whose dashes are its path; the cgroupfs driver takes the path. */
export function criCgroupParent(parent: string, driver: CgroupDriverName): string {
  return driver === "systemd" && parent !== "" ? basename(parent) : parent;
}
