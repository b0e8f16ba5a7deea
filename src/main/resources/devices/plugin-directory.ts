// <root-dir>/device-plugins: made, and emptied of the sockets of former plugins, which register anew with this kubelet.
// Invariant: this is done at once when the kubelet starts, not when its own socket is made: a plugin that starts after
// the kubelet must not lose its socket.
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const MODE = 0o750;
/** Tells plugins' authors that plugins_registry is the newer way; upstream makes it too. */
const DEPRECATION = "DEPRECATION";

export async function preparePluginDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: MODE });
  const entries = await readdir(directory, { withFileTypes: true });
  const sockets = entries.filter((entry) => entry.isSocket());
  await Promise.all(sockets.map(({ name }) => rm(join(directory, name), { force: true })));
  await writeFile(join(directory, DEPRECATION), "");
}
