// The cgroups of the node's own parts: the kubelet's, the runtime's, the pods', and systemCgroups. As configured, else
// where the process is; the runtime is who listens on its socket.

import type { CgroupReader } from "../../../../shared/node/stats/cgroup-figures.js";
import type { ReadText } from "../../../../shared/node/stats/kernel-file.js";

interface SystemCgroupSettings {
  /** "": the kubelet's present one. */
  kubeletCgroups: string;
  /** "": the runtime's present one. */
  runtimeCgroups: string;
  /** "": there is none. */
  systemCgroups: string;
}

export interface SystemCgroup {
  name: "kubelet" | "runtime" | "misc" | "pods";
  path: string;
}

export interface SystemCgroupDeps {
  settings: SystemCgroupSettings;
  reader: Pick<CgroupReader, "exists" | "version">;
  read: ReadText;
  /** undefined: not known. */
  runtimePid: number | undefined;
}

export function systemCgroups(deps: SystemCgroupDeps, pods: string | undefined): SystemCgroup[] {
  const { settings, reader, read, runtimePid } = deps;
  const found: SystemCgroup[] = [];
  const add = (name: SystemCgroup["name"], path: string | undefined): void => {
    if (path !== undefined && reader.exists(path)) found.push({ name, path });
  };
  // A configured cgroup counts only if it exists.
  const configured = (path: string): string | undefined => {
    const absolute = `/${path.replace(/^\/+/, "")}`;
    return path !== "" && reader.exists(absolute) ? absolute : undefined;
  };
  const ofProcess = (pid: number | "self" | undefined): string | undefined =>
    pid === undefined ? undefined : cgroupOf(pid, reader.version, read);
  add("kubelet", configured(settings.kubeletCgroups) ?? ofProcess("self"));
  add("runtime", configured(settings.runtimeCgroups) ?? ofProcess(runtimePid));
  add("misc", configured(settings.systemCgroups));
  add("pods", pods);
  return found;
}

/** The memory cgroup of a process, or the only one there is. @internal */
export function cgroupOf(pid: number | "self", version: 1 | 2, read: ReadText): string | undefined {
  for (const line of (read(`/proc/${pid}/cgroup`) ?? "").split("\n")) {
    const [, controllers = "", ...path] = line.split(":");
    const wanted = version === 2 ? controllers === "" : controllers.split(",").includes("memory");
    if (wanted && path.length > 0) return path.join(":");
  }
  return undefined;
}
