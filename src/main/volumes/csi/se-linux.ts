// The SELinux label that a volume is mounted with as a whole (mount option "context"), instead of relabelling its files.
// Only if the node has SELinux, the driver supports it, and no two pods could need different labels.
import type { Container, Pod } from "../../../shared/api/pod.js";
import type { Mount } from "../../../shared/fs/mountinfo.js";
import type { FileLabel } from "../../../shared/os/se-linux.js";
import type { DriverSpec } from "./driver-objects.js";
import { usersOfVolume } from "../volume-users.js";
import { CsiSpecError } from "./errors.js";

export interface LabelledMount {
  /** The label of files by the node's policy. */
  files: FileLabel;
  /** Gate SELinuxMount: whatever the access mode, not only ReadWriteOncePod. */
  everyMode: boolean;
  driver: DriverSpec | undefined;
  accessModes: readonly string[];
  pod: Pod;
  /** As the pod names it; undefined: any of its containers may have it. */
  volume: string | undefined;
}

/** undefined: the volume's files are the runtime's to relabel. @throws CsiSpecError for containers that can't share it */
export function mountContext({
  files,
  everyMode,
  driver,
  accessModes,
  pod,
  volume,
}: LabelledMount): string | undefined {
  if (driver?.seLinuxMount !== true) return undefined;
  const onePod = accessModes.length === 1 && accessModes[0] === "ReadWriteOncePod";
  if (!onePod && !everyMode) return undefined;
  if (pod.spec.securityContext?.seLinuxChangePolicy === "Recursive") return undefined;
  const labels = new Set(containersWith(pod, volume).map((container) => labelOf(pod, container, files)));
  const [label] = labels;
  if (labels.size <= 1) return label;
  if (!onePod) return undefined;
  const list = [...labels].map((one) => one ?? '""').join(",");
  throw new CsiSpecError(
    `multiple SELinux labels found: ${list}; the containers of a pod that share a volume need the same`,
  );
}

function containersWith({ spec }: Pod, volume: string | undefined): (Container | undefined)[] {
  const { containers, initContainers = [], ephemeralContainers = [] } = spec;
  const all: Container[] = [...containers, ...initContainers, ...ephemeralContainers];
  const found = volume === undefined ? all : usersOfVolume(spec, volume).mounts;
  // Before there are containers the pod's own word counts.
  return found.length === 0 ? [undefined] : found;
}

/** The type of files is the policy's, whatever type the process has; user and level are the process's. */
function labelOf(pod: Pod, container: Container | undefined, files: FileLabel): string | undefined {
  const options = container?.securityContext?.seLinuxOptions ?? pod.spec.securityContext?.seLinuxOptions;
  if (options?.level === undefined || options.level === "") return undefined;
  const { user = files.user, level } = options;
  return `${user}:${files.role}:${files.type}:${level}`;
}

/** The uppermost mount has labels per file, and was not mounted with one label for all. */
export function keepsLabels(mounts: readonly Pick<Mount, "superOptions">[]): boolean {
  return mounts.at(-1)?.superOptions.includes("seclabel") === true;
}

export function contextOption(context: string | undefined): string[] {
  return context === undefined ? [] : [`context="${context}"`];
}
