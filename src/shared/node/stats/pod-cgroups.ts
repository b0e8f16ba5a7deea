// Maps cgroups to pods by UID and QoS class, and to containers by the id in the directory's name. The remaining one is
// the pod's sandbox. Both drivers' names are tried: only main knows the runtime's driver.

import type { ApiContainerStatus, QOSClass } from "../../kubernetes/api/pod-status.js";
import type { Pod } from "../../kubernetes/api/pod.js";
import type { PodUid } from "../../kubernetes/identifiers.js";
import { parseCgroupRoot, podCgroupName, qosCgroupName, toCgroupfs, toSystemdPath } from "../cgroup/name.js";
import type { CgroupDriver, CgroupName } from "../cgroup/name.js";
import type { CgroupReader } from "./cgroup-figures.js";

export interface ContainerPlace {
  name: string;
  /** Without the runtime's name. */
  id: string;
  image: string;
  path: string;
  /** Milliseconds since the epoch; undefined: not known. */
  startedAt: number | undefined;
}

export interface PodPlace {
  pod: Pod;
  path: string;
  containers: readonly ContainerPlace[];
  sandbox?: { id: string; path: string } | undefined;
}

export interface CgroupRootSettings {
  cgroupRoot: string;
  cgroupsPerQOS: boolean;
}

const CLASSES: readonly QOSClass[] = ["Burstable", "BestEffort", "Guaranteed"];
const HEX_ID = /[0-9a-f]{64}/;

export class PodCgroups {
  private driver: CgroupDriver | undefined;

  constructor(
    private readonly settings: CgroupRootSettings,
    private readonly reader: Pick<CgroupReader, "exists" | "children">,
  ) {}

  /** undefined: the pod has no cgroup, not yet or no more. @throws OperatorError */
  find(pod: Pod): PodPlace | undefined {
    const path = this.pathOf({ uid: pod.metadata.uid, qosClass: pod.status?.qosClass });
    if (path === undefined) return undefined;
    const running = runningContainers(pod);
    const known = new Set(knownIds(pod));
    const paths = new Map<string, string>();
    let sandbox: PodPlace["sandbox"];
    for (const child of this.reader.children(path)) {
      const id = HEX_ID.exec(child)?.[0] ?? child;
      const below = `${path}/${child}`;
      paths.set(id, below);
      if (!known.has(id) && HEX_ID.test(child)) sandbox = { id, path: below };
    }
    const containers = [...running].flatMap(([id, container]) => {
      const below = paths.get(id);
      return below === undefined ? [] : [{ ...container, id, path: below }];
    });
    return { pod, path, containers, sandbox };
  }

  /** The cgroups above the pods': kubepods and its classes, those there are. */
  above(): string[] {
    const names = CLASSES.map((qos) => this.qosName(qos, "cgroupfs"));
    const paths = this.drivers().flatMap((driver) => names.map((name) => spelled(name, driver)));
    return [...new Set(paths)].filter((path) => path !== "/" && this.reader.exists(path));
  }

  /** The cgroup of all pods; undefined: there is none. */
  all(): string | undefined {
    return this.drivers()
      .map((driver) => spelled(this.qosName("Guaranteed", driver), driver))
      .find((path) => this.reader.exists(path));
  }

  /** The pod's own cgroup; undefined: not yet, or no more. @throws OperatorError */
  pathOf({ uid, qosClass }: { uid: PodUid; qosClass: QOSClass | undefined }): string | undefined {
    const classes = qosClass === undefined ? CLASSES : [qosClass];
    for (const driver of this.drivers()) {
      for (const qos of classes) {
        const path = spelled(podCgroupName(this.qosName(qos, driver), uid), driver);
        if (!this.reader.exists(path)) continue;
        this.driver = driver;
        return path;
      }
    }
    return undefined;
  }

  private drivers(): readonly CgroupDriver[] {
    return this.driver === undefined ? ["cgroupfs", "systemd"] : [this.driver];
  }

  private qosName(qos: QOSClass, driver: CgroupDriver): CgroupName {
    const { cgroupRoot, cgroupsPerQOS } = this.settings;
    return qosCgroupName(parseCgroupRoot(cgroupRoot, driver), qos, cgroupsPerQOS);
  }
}

function spelled(name: CgroupName, driver: CgroupDriver): string {
  return driver === "systemd" ? toSystemdPath(name) : toCgroupfs(name);
}

function statuses(pod: Pod): ApiContainerStatus[] {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = pod.status ?? {};
  return [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
}

/** "containerd://ID" to "ID". */
function bareId(containerID: string): string {
  return containerID.slice(containerID.indexOf("://") + 3);
}

/** Returns the running containers that the pod's status names, by id. */
export function runningContainers(pod: Pod): Map<string, Omit<ContainerPlace, "path" | "id">> {
  const running = new Map<string, Omit<ContainerPlace, "path" | "id">>();
  for (const { name, image, containerID = "", state } of statuses(pod)) {
    if (state.running === undefined || containerID === "") continue;
    const started = Date.parse(state.running.startedAt ?? "");
    running.set(bareId(containerID), { name, image, startedAt: Number.isNaN(started) ? undefined : started });
  }
  return running;
}

/** Returns the ids of containers that run or ran: a directory that still has such a name is no sandbox's. */
function knownIds(pod: Pod): string[] {
  return statuses(pod).flatMap(({ containerID = "", state, lastState }) =>
    [containerID, state.terminated?.containerID ?? "", lastState.terminated?.containerID ?? ""]
      .filter((id) => id !== "")
      .map(bareId),
  );
}
