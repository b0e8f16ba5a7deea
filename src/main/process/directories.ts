// The kubelet's directories, under upstream's names, because other tools depend on them; and the shared mount of the
// root directory.

import { mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { OperatorError } from "../../shared/base/errors/operator-error.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import { podsDirectory } from "../../shared/kubernetes/api/pod-paths.js";

export interface Directories {
  root: string;
  pods: string;
  plugins: string;
  pluginsRegistry: string;
  podResources: string;
  checkpoints: string;
  /** Localhost seccomp profiles; the administrator makes it. */
  seccomp: string;
  podLogs: string;
  /** Links to the containers' logs, for log collectors. */
  containerLogs: string;
}

export function directoriesOf(rootDir: string, podLogsDir: string, containerLogs = "/var/log/containers"): Directories {
  return {
    root: rootDir,
    pods: podsDirectory(rootDir),
    plugins: join(rootDir, "plugins"),
    pluginsRegistry: join(rootDir, "plugins_registry"),
    podResources: join(rootDir, "pod-resources"),
    checkpoints: join(rootDir, "checkpoints"),
    seccomp: join(rootDir, "seccomp"),
    podLogs: podLogsDir,
    containerLogs,
  };
}

/** A directory the kubelet cannot work without could not be made. */
function directoryError(path: string, cause: unknown): OperatorError {
  const why = messageOf(cause);
  return new OperatorError(
    `cannot make directory ${path}: ${why}. Run as root, or choose others with --root-dir and podLogsDir`,
    {
      cause,
    },
  );
}

/**
 * It holds keys with their own modes. The root directory comes first: as a mere parent it would be open to all. Throws
 * OperatorError.
 */
export async function makeCertDir(certDir: string, rootDir: string): Promise<void> {
  await make(rootDir, 0o750);
  await make(certDir, 0o755);
}

/** Creates missing directories with upstream's modes; existing ones stay as they are. Throws OperatorError. */
export async function makeDirectories(directories: Directories): Promise<void> {
  await make(directories.root, 0o750);
  await Promise.all([
    make(directories.pods, 0o750),
    make(directories.plugins, 0o750),
    make(directories.pluginsRegistry, 0o750),
    make(directories.podResources, 0o750),
    make(directories.checkpoints, 0o700),
    make(directories.podLogs, 0o750),
    make(directories.containerLogs, 0o755),
  ]);
}

async function make(path: string, mode: number): Promise<void> {
  try {
    await makeWithParents(path, mode);
  } catch (error) {
    throw directoryError(path, error);
  }
}

/**
 * Node's own recursive mkdir never comes back from a folder whose parent can't be made though it is "missing"
 * (/proc/x/y).
 */
async function makeWithParents(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    if (code !== "ENOENT" || dirname(path) === path) throw error;
    await makeWithParents(dirname(path), mode);
    await mkdirUnlessThere(path, mode);
  }
}

/** Another start, or another of our own folders, may have been faster. */
async function mkdirUnlessThere(path: string, mode: number): Promise<void> {
  await mkdir(path, { mode }).catch((error: unknown) => {
    if (errorCode(error) !== "EEXIST") throw error;
  });
}
