// The files a container is given: /etc/hosts and the termination log.
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Container, Pod } from "../../shared/api/pod.js";
import { podHostname } from "../network/hostname.js";
import { hostNetworkHostsFile, podHostsFile } from "../network/hosts-file.js";
import { etcHostsPath, hostsFileMode, podDirMode, terminationLogMode, terminationLogPath } from "./config/data-dirs.js";
import type { NodeRuntime } from "./node-runtime.js";

/** Writes the pod's hosts file and returns its path; undefined when the pod has no addresses to put in it. */
export async function writeHostsFile(runtime: NodeRuntime, pod: Pod, podIPs: string[]): Promise<string | undefined> {
  const hostNetwork = pod.spec.hostNetwork === true;
  if (!hostNetwork && podIPs.length === 0) return undefined;
  const path = etcHostsPath(runtime.settings.rootDir, pod.metadata.uid);
  const aliases = pod.spec.hostAliases ?? [];
  const text = hostNetwork
    ? hostNetworkHostsFile(await readFile("/etc/hosts", "utf8"), aliases)
    : podHostsFile({ podIPs, ...podHostname(pod, runtime.settings.clusterDomain), aliases });
  await writeFile(path, text, { mode: hostsFileMode });
  return path;
}

/** Makes the empty file behind the container's termination message path and returns its path. */
export async function makeTerminationLog(runtime: NodeRuntime, pod: Pod, container: Container): Promise<string> {
  const id = randomBytes(4).readUInt32BE();
  const path = terminationLogPath(runtime.settings.rootDir, pod.metadata.uid, container.name, id);
  await mkdir(dirname(path), { recursive: true, mode: podDirMode });
  await writeFile(path, "");
  // The umask would take the write bits of others away, and the container's user may be anyone.
  await chmod(path, terminationLogMode);
  return path;
}
