// The kubelet's files for a container: /etc/hosts and the termination log.

import { randomBytes } from "node:crypto";
import { chmod, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { readRegularFile } from "../../../shared/io/fs/regular-file.js";
import { writeUntrusted } from "../../../shared/io/fs/untrusted-file.js";
import { etcHostsPath, terminationLogPath } from "../../../shared/kubernetes/api/pod-paths.js";
import type { Container, Pod } from "../../../shared/kubernetes/api/pod.js";
import { hostsFileMode, podDirMode, terminationLogMode } from "../../model/root-directory.js";
import { StartContainerError } from "../../model/step-errors.js";
import { hostNetworkHostsFile, podHostsFile } from "../network/hosts-file.js";
import { podHostname } from "../network/pod-hostname.js";
import type { NodeRuntime } from "./node-runtime.js";

/**
 * Bytes of the node's own hosts file, which pods with hostNetwork get a copy of. Lists of blocked names have several
 * megabytes.
 */
export const LONGEST_HOSTS = 64 * 1024 * 1024;

/** Writes the pod's hosts file and returns its path; undefined when the pod has no addresses to put in it. */
export async function writeHostsFile(runtime: NodeRuntime, pod: Pod, podIPs: string[]): Promise<string | undefined> {
  const hostNetwork = pod.spec.hostNetwork === true;
  if (!hostNetwork && podIPs.length === 0) return undefined;
  const path = etcHostsPath(runtime.settings.rootDir, pod.metadata.uid);
  const aliases = pod.spec.hostAliases ?? [];
  const text = hostNetwork
    ? hostNetworkHostsFile(await readRegularFile("/etc/hosts", LONGEST_HOSTS), aliases)
    : podHostsFile({ podIPs, ...podHostname(pod, runtime.settings.clusterDomain), aliases });
  await writeUntrusted(path, text, hostsFileMode);
  return path;
}

/**
 * Makes the folder of the container's logs, as upstream does before CreateContainer. containerd makes it by itself;
 * conmon of CRI-O opens the file in it.
 * @throws StartContainerError
 */
export async function makeLogFolder(logDirectory: string, { name }: Container): Promise<void> {
  try {
    await mkdir(join(logDirectory, name), { recursive: true, mode: 0o755 });
  } catch (error) {
    const message = `cannot make the folder of the container's logs: ${messageOf(error)}`;
    throw new StartContainerError("CreateContainerConfigError", message, undefined, { cause: error });
  }
}

/** Makes the empty file behind the container's termination message path and returns its path. */
export async function makeTerminationLog(runtime: NodeRuntime, pod: Pod, container: Container): Promise<string> {
  const id = randomBytes(4).readUInt32BE();
  const path = terminationLogPath(runtime.settings.rootDir, pod.metadata.uid, container.name, id);
  await mkdir(dirname(path), { recursive: true, mode: podDirMode });
  await writeUntrusted(path, "", terminationLogMode);
  // chmod, because the umask would remove the write permission of others, and the container may run as any user.
  await chmod(path, terminationLogMode);
  return path;
}
