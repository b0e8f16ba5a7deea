// File systems that the agent itself mounts as a volume. INVARIANTS: the note is on disk before the mount and goes after
// the unmount; without a note, or with one of another kind, what is mounted there is somebody else's and stays.
import { mount, type MountFlag } from "../../shared/os/mount.js";
import { isOsCallError } from "../../shared/os/errors.js";
import { ForeignMountError } from "./errors.js";
import { clearIntent, readIntent, recordIntent, type MountIntent } from "./mount-intent.js";
import { mountsAt, unmount } from "./mounts.js";

const FLAGS: readonly MountFlag[] = ["relAtime"];

/** Kernels before 6.3, and user namespaces, know no noswap. */
const NO_SWAP = ",noswap";
let noSwapRefused = false;

/** `data`: the file system's options. @throws OsCallError, DiskFullError */
export async function makeOwnMount(meta: string, intent: MountIntent, data: string): Promise<void> {
  const { kind, target } = intent;
  await recordIntent(meta, intent);
  if (kind === "tmpfs" && !noSwapRefused) {
    try {
      await mount({ source: kind, target, type: kind, flags: FLAGS, data: data + NO_SWAP });
      return;
    } catch (error) {
      if (!isOsCallError(error, "EINVAL")) throw error;
    }
  }
  await mount({ source: kind, target, type: kind, flags: FLAGS, data });
  // Only now it is known that noswap, and not the rest, was what the kernel did not take.
  noSwapRefused ||= kind === "tmpfs";
}

/** Idempotent. @throws VolumeBusyError, ForeignMountError, ProgramError */
export async function removeOwnMount(uid: string, target: string, meta: string): Promise<void> {
  const intent = await readIntent(meta);
  if (intent === undefined) return;
  const layers = await mountsAt(target);
  if (intent.kind !== undefined && layers.some(({ fsType }) => fsType !== intent.kind)) {
    throw new ForeignMountError(target, [target]);
  }
  if (layers.length > 0) await unmount(uid, target);
  await clearIntent(meta);
}
