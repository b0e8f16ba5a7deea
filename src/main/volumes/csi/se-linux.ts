// The SELinux label that a volume is mounted with as a whole (mount option "context"), instead of relabelling its files.
// Only where the node has SELinux, the driver says it can, and nobody else has the volume.
import { stat } from "node:fs/promises";
import type { Pod } from "../../../shared/api/pod.js";
import type { DriverSpec } from "./driver-objects.js";

/** True when the kernel enforces or watches SELinux. */
export async function seLinuxEnabled(): Promise<boolean> {
  return stat("/sys/fs/selinux/enforce").then(
    () => true,
    () => false,
  );
}

/** undefined: the volume's files are the runtime's to relabel. */
export function mountContext(
  enabled: boolean,
  driver: DriverSpec | undefined,
  accessModes: readonly string[],
  pod: Pod,
): string | undefined {
  if (!enabled || driver?.seLinuxMount !== true) return undefined;
  if (accessModes.length !== 1 || accessModes[0] !== "ReadWriteOncePod") return undefined;
  const { seLinuxOptions, seLinuxChangePolicy } = pod.spec.securityContext ?? {};
  if (seLinuxChangePolicy === "Recursive" || seLinuxOptions?.level === undefined) return undefined;
  const { user = "system_u", level } = seLinuxOptions;
  // Role and type of files are the policy's, whatever the process has.
  return `${user}:object_r:container_file_t:${level}`;
}

export function contextOption(context: string | undefined): string[] {
  return context === undefined ? [] : [`context="${context}"`];
}
