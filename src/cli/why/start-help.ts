// Remedies for a container that the runtime or the kubelet could not start, and for what a program says before it ends.
// Pure.

import { fullDiskHelp } from "../problems.js";

const HELP: readonly (readonly [pattern: RegExp, help: string])[] = [
  [
    /exec format error/i,
    "the program is built for another processor architecture than this node's: use an image for it",
  ],
  [
    /mkdir \S+: not a directory|chdir to cwd|workingDir|no such file or directory.*\bcwd\b/i,
    "the container's workingDir cannot be entered: it must be a directory of the image, or one that can be made",
  ],
  [
    /exec: .*(?:executable file not found|no such file or directory)|executable file not found/i,
    "the command is not in the image: correct command and args of the container",
  ],
  [
    /exec: .*permission denied/i,
    "the command is not executable for the container's user: check runAsUser and the file's rights",
  ],
  [/runAsNonRoot|non-root/i, "the image runs as root: set runAsUser, or allow root"],
  [
    /sub-?path|^missing value for /i,
    "correct the subPath of the volume mount: it must lie inside the volume, and its variables must be defined",
  ],
  [/configmap|secret/i, "create the missing ConfigMap or Secret, or mark the reference as optional"],
  [/no such file or directory/i, "a path that the container needs is missing: the message names it"],
  [
    /permission denied|operation not permitted/i,
    "the container's user may not do this: check runAsUser, capabilities and the file's rights",
  ],
];

export function startHelp(reason: string, message: string, unit: string): string[] {
  const full = fullDiskHelp(message);
  if (full.length > 0) return full;
  if (reason === "PostStartHookError")
    return ["the postStart hook failed, so the container was stopped: correct the hook"];
  const found = HELP.find(([pattern]) => pattern.test(message));
  return [found?.[1] ?? `the message is the runtime's: see also its log (journalctl -u ${unit})`];
}

const OUTPUT_HELP: readonly (readonly [pattern: RegExp, help: string])[] = [
  [
    /read-only file system/i,
    "it writes to a read-only file system: mount an emptyDir volume at that path, or set readOnlyRootFilesystem: false",
  ],
  [/exec format error/i, "a program is built for another processor architecture than this node's: use an image for it"],
  [/no space left on device/i, "a disk is full: `nodelet status` and `df -h` show which"],
  [/permission denied/i, "its user may not do this: check runAsUser, fsGroup and the rights of the file"],
];

/** Remedies by the last lines of a run. */
export function outputHelp(lines: readonly string[]): string[] {
  return OUTPUT_HELP.filter(([pattern]) => lines.some((line) => pattern.test(line)))
    .map(([, help]) => help)
    .slice(0, 1);
}
