// The SELinux label that a volume is mounted with as a whole (mount option "context"), instead of relabelling its
// files. Only if the node has SELinux, plugin and access mode support it, and no two pods need different labels.
// KEP-1710.
// Invariant: pods that use a volume at the same time have one label, or the second is refused.

import type { Mount } from "../../shared/io/fs/mountinfo.js";
import type { FileLabel } from "../../shared/io/os/se-linux.js";
import type { Container, Pod } from "../../shared/kubernetes/api/pod.js";
import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import { mountsAt } from "./mounts.js";
import { seLinuxMountMetrics, type SELinuxMountMetrics } from "./se-linux-metrics.js";
import { VolumeError } from "./volume-error.js";
import { usersOfVolume } from "./volume-users.js";

export interface LabelledVolume {
  /** For metrics: "kubernetes.io/iscsi", "kubernetes.io/csi/<driver>". */
  plugin: string;
  /** The plugin mounts with a context: a CSI driver with `seLinuxMount: true`, or an in-tree block device. */
  supported: boolean;
  /** Access modes of the persistent volume; empty for a volume that the pod names itself. */
  accessModes: readonly string[];
  pod: Pod;
  /** As the pod names it; undefined: any of its containers may have it. */
  volume: string | undefined;
}

interface Used {
  label: string | undefined;
  readonly users: Set<string>;
}

export class SELinuxMounts {
  private readonly metrics: SELinuxMountMetrics;
  private readonly used = new Map<string, Used>();

  constructor(
    /** The label of files by the node's policy. */
    private readonly files: FileLabel,
    /** Gate SELinuxMount: every access mode, not only ReadWriteOncePod. */
    private readonly everyMode: boolean,
    registry: ThreadRegistry,
  ) {
    this.metrics = seLinuxMountMetrics(registry);
  }

  /**
   * The context to mount with; undefined: the runtime relabels the files. `volume` and `user` are keys of the volume on
   * this node and of the pod's use of it.
   * @throws VolumeError
   */
  claim(volume: string, user: string, asked: LabelledVolume): string | undefined {
    if (!asked.supported) return undefined;
    const applies = modeApplies(asked.accessModes, this.everyMode);
    const labels = labelsOf(asked, this.files);
    const [first] = labels;
    if (labels.size > 1) {
      this.metrics.podMismatch(asked.accessModes, applies);
      if (!applies) return undefined;
      const list = [...labels].map((one) => one ?? '""').join(",");
      throw new VolumeError(
        `multiple SELinux labels found: ${list}; the containers of a pod that share a volume need the same`,
      );
    }
    const isRecursive = asked.pod.spec.securityContext?.seLinuxChangePolicy === "Recursive";
    const label = isRecursive ? undefined : first;
    const used = this.used.get(volume);
    if (used === undefined || [...used.users].every((other) => other === user)) {
      if (label !== undefined && used?.label !== label) this.metrics.admitted(asked.plugin, asked.accessModes);
      this.used.set(volume, { label, users: new Set([user]) });
    } else if (used.label !== label) {
      this.metrics.volumeMismatch(asked.plugin, asked.accessModes, applies);
      if (applies) {
        throw new VolumeError(
          `conflicting SELinux labels of volume ${volume}: "${used.label ?? ""}" and "${label ?? ""}"; ` +
            "pods that use a volume at the same time need the same",
        );
      }
    } else used.users.add(user);
    return applies ? label : undefined;
  }

  /** The user no longer has its volume. */
  release(user: string): void {
    for (const [volume, { users }] of this.used) {
      if (users.delete(user) && users.size === 0) this.used.delete(volume);
    }
  }
}

/** Whether a persistent volume is mounted with its label: if no other pod may use it, or in any mode with the gate. */
function modeApplies(accessModes: readonly string[], everyMode: boolean): boolean {
  if (accessModes.length === 0) return false;
  return everyMode || (accessModes.length === 1 && accessModes[0] === "ReadWriteOncePod");
}

function labelsOf({ pod, volume }: LabelledVolume, files: FileLabel): Set<string | undefined> {
  return new Set(containersWith(pod, volume).map((container) => labelOf(pod, container, files)));
}

function containersWith({ spec }: Pod, volume: string | undefined): (Container | undefined)[] {
  const { containers, initContainers = [], ephemeralContainers = [] } = spec;
  const all: Container[] = [...containers, ...initContainers, ...ephemeralContainers];
  const found = volume === undefined ? all : usersOfVolume(spec, volume).mounts;
  // Before there are containers the label of the pod counts.
  return found.length === 0 ? [undefined] : found;
}

/** The type of files is the policy's, not the process's; user and level are the process's. */
function labelOf(pod: Pod, container: Container | undefined, files: FileLabel): string | undefined {
  const options = container?.securityContext?.seLinuxOptions ?? pod.spec.securityContext?.seLinuxOptions;
  if (options?.level === undefined || options.level === "") return undefined;
  const { user = files.user, level } = options;
  return `${user}:${files.role}:${files.type}:${level}`;
}

/** The uppermost mount has labels per file, and was not mounted with one label for all. @internal */
export function keepsLabels(mounts: readonly Pick<Mount, "superOptions">[]): boolean {
  return mounts.at(-1)?.superOptions.includes("seclabel") === true;
}

/** The runtime may relabel the files that are mounted there: they have labels of their own. */
export async function isRelabelled(target: string): Promise<boolean> {
  return keepsLabels(await mountsAt(target));
}

export function contextOption(context: string | undefined): string[] {
  return context === undefined ? [] : [`context="${context}"`];
}
