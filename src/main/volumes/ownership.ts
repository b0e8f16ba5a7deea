// fsGroup on a new volume: its directory belongs to the group, which may write, and new files inherit the group.
import { chmod, chown, stat } from "node:fs/promises";

const SETGID_GROUP_RWX = 0o2770;
const MODE_BITS = 0o7777;

/** For a directory without content yet; `fsGroup` undefined leaves it alone. */
export async function applyFsGroup(directory: string, fsGroup: number | undefined): Promise<void> {
  if (fsGroup === undefined) return;
  const { uid, mode } = await stat(directory);
  // chown first: it may clear setgid.
  await chown(directory, uid, fsGroup);
  await chmod(directory, (mode & MODE_BITS) | SETGID_GROUP_RWX);
}
