// Removes a directory in which a kubelet ran. Where / is no shared mount, the kubelet mounts its root directory onto
// itself.

import { rm } from "node:fs/promises";
import { unmountBelow } from "../../tools/standalone/mounts.js";

export async function removeTree(directory: string): Promise<void> {
  await unmountBelow(directory);
  await rm(directory, { recursive: true, force: true });
}
