// <root-dir>/device-plugins: created, and emptied of the sockets of former plugins, which register again with this
// kubelet.
// Invariant: this is done at once when the kubelet starts, before its own socket is made. A plugin that starts after
// the kubelet must not lose its socket.

import { mkdir, readdir, rm } from "fs/promises";
import { join } from "path/posix";

const MODE = 0o750;
/**
 * Earlier versions of this kubelet made this file; upstream 1.36 does not. A plugin on upstream's library does not
 * register while it exists: https://github.com/kubernetes/kubernetes/tree/master/pkg/kubelet/cm/devicemanager/plugin/v1beta1
 */
const DEPRECATION = "DEPRECATION";

export async function preparePluginDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: MODE });
  const entries = await readdir(directory, { withFileTypes: true });
  const sockets = entries.filter((entry) => entry.isSocket());
  await Promise.all(sockets.map(({ name }) => rm(join(directory, name), { force: true })));
  await rm(join(directory, DEPRECATION), { force: true });
}
