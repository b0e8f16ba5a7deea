// The root directory on a shared mount, as upstream has it. A container may make mounts in a volume of its pod
// (mountPropagation Bidirectional). They reach the node only from a shared mount. systemd makes / shared; initramfs
// systems and containers often do not.
// Invariant: no mount below the root directory is hidden: pods of an earlier kubelet use them.

import { realpath } from "fs/promises";
import { readMountTable, unescapeMountField } from "../../shared/io/fs/mountinfo.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../shared/telemetry/log/thread-log.js";

/** Never rejects: without it all pods run but those that share mounts with the node. */
export async function shareRootDirectory(rootDir: string, log: Logger): Promise<void> {
  try {
    await makeShared(await realpath(rootDir), log);
  } catch (error) {
    log.error(
      { err: error, rootDir },
      `cannot make ${rootDir} a shared mount: ${errorText(error)}; pods with mountPropagation Bidirectional will not start`,
    );
  }
}

async function makeShared(path: string, log: Logger): Promise<void> {
  const mounts = mountTable(await readMountTable());
  const within = (mountPoint: string): boolean => mountPoint === "/" || `${path}/`.startsWith(`${mountPoint}/`);
  // Of two mounts at one place, the later one is on top.
  const own = mounts
    .filter(({ mountPoint }) => within(mountPoint))
    .reduce((a, b) => (b.mountPoint.length >= a.mountPoint.length ? b : a), { mountPoint: "", shared: false });
  if (own.shared) return;
  const { mount } = await import("../../shared/io/os/mount.js");
  if (own.mountPoint !== path) {
    const below = mounts.find(({ mountPoint }) => mountPoint.startsWith(`${path}/`));
    if (below !== undefined) {
      const why = `${below.mountPoint} is mounted below it, and a mount on ${path} would hide that from running pods`;
      throw new Error(`${why}; run "mount --make-rshared ${own.mountPoint}", or reboot the node`);
    }
    await mount({ source: path, target: path, flags: ["bind"] });
  }
  await mount({ source: "none", target: path, flags: ["shared", "recursive"] });
  log.info({ rootDir: path }, `made ${path} a shared mount`);
}

/** Each mount's place, and whether mounts on it reach its peers: the optional field "shared:N". */
function mountTable(text: string): { mountPoint: string; shared: boolean }[] {
  return text
    .split("\n")
    .filter((line) => line.includes(" - "))
    .map((line) => {
      const [left = ""] = line.split(" - ", 1);
      const [, , , , mountPoint = "", , ...optional] = left.split(" ");
      return {
        mountPoint: unescapeMountField(mountPoint),
        shared: optional.some((field) => field.startsWith("shared:")),
      };
    });
}
