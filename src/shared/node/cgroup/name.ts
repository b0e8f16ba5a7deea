// A cgroup's logical path (["kubepods", "burstable", "podUID"]) and its two spellings: plain directories (cgroupfs) and
// nested systemd slices. In a slice "-" separates levels, so inside an element it becomes "_".

import type { QOSClass } from "../../kubernetes/api/pod-status.js";
import { safePodUid } from "../../kubernetes/api/pod-uid.js";
import { type PodUid, podUid } from "../../kubernetes/identifiers.js";

/** Elements below the cgroup root; [] is the root itself. */
export type CgroupName = readonly string[];
export type CgroupDriver = "cgroupfs" | "systemd";

const POD_PREFIX = "pod";
const SLICE = ".slice";

/** "/a/b" (any number of slashes) to ["a", "b"]. */
export function parseCgroupPath(path: string): CgroupName {
  return path.split("/").filter((element) => element !== "");
}

/**
 * Config field cgroupRoot. With systemd a name or path of slices ("a-b.slice", "/a.slice/a-b.slice") means the same as
 * the plain path "/a/b".
 */
export function parseCgroupRoot(path: string, driver: CgroupDriver): CgroupName {
  const elements = parseCgroupPath(path);
  return driver === "systemd" && elements.at(-1)?.endsWith(SLICE) === true ? fromSystemdSlice(path) : elements;
}

/**
 * Parent cgroup for pods of a QoS class: <root>/kubepods[/burstable|/besteffort], or the root itself without QoS
 * cgroups.
 */
export function qosCgroupName(root: CgroupName, qos: QOSClass, cgroupsPerQOS: boolean): CgroupName {
  if (!cgroupsPerQOS) return root;
  if (qos === "Guaranteed") return [...root, "kubepods"];
  return [...root, "kubepods", qos === "Burstable" ? "burstable" : "besteffort"];
}

/** @throws OperatorError */
export function podCgroupName(qosParent: CgroupName, uid: PodUid): CgroupName {
  return [...qosParent, POD_PREFIX + safePodUid(uid)];
}

/** The pod UID of a last path element of either driver, or undefined when the element is no pod's. */
export function podUidOf(element: string, driver: CgroupDriver): PodUid | undefined {
  const name = driver === "systemd" ? fromSystemdSlice(element).at(-1) : element;
  return name?.startsWith(POD_PREFIX) === true && name.length > POD_PREFIX.length
    ? podUid(name.slice(POD_PREFIX.length))
    : undefined;
}

/** ["a", "b"] to "/a/b"; the root to "/". */
export function toCgroupfs(name: CgroupName): string {
  return `/${name.join("/")}`;
}

/** ["a", "b-c"] to "/a.slice/a-b_c.slice"; the root to "/". */
export function toSystemdPath(name: CgroupName): string {
  return toCgroupfs(slicePath(name));
}

/** ["a", "b-c"] to ["a.slice", "a-b_c.slice"]: the directories systemd makes for it. */
export function slicePath(name: CgroupName): CgroupName {
  return name.map((_, index) => sliceName(name.slice(0, index + 1)));
}

/** The last slice of the path, "a-b_c.slice"; the root slice is "-.slice". */
export function sliceName(name: CgroupName): string {
  return name.length === 0 ? `-${SLICE}` : name.map((element) => element.replaceAll("-", "_")).join("-") + SLICE;
}

/** Inverse of `sliceName` for names without "_" (pod UIDs have none). Takes a slice name or a path ending in one. */
export function fromSystemdSlice(slice: string): CgroupName {
  const last = parseCgroupPath(slice).at(-1) ?? "";
  const bare = last.endsWith(SLICE) ? last.slice(0, -SLICE.length) : last;
  return bare === "" || bare === "-" ? [] : bare.split("-").map((element) => element.replaceAll("_", "-"));
}

/** LinuxPodSandboxConfig.cgroup_parent: the full path (cgroupfs), or only the last slice's name (systemd). */
export function criCgroupParent(name: CgroupName, driver: CgroupDriver): string {
  return driver === "systemd" ? sliceName(name) : toCgroupfs(name);
}
