// The message of the event KubeletConfigChanged.

import { configMapLink } from "../../../shared/kubernetes/api/config-source.js";
import { shortDigest, type ConfigFiles } from "./config-files.js";

/** Upstream's words where the cluster assigns the configuration. */
export function restartMessage(digest: string, { configMap }: ConfigFiles, before: ConfigFiles | undefined): string {
  if (configMap !== undefined) {
    const { uid = "", resourceVersion = "", kubeletConfigKey } = configMap;
    const version = `UID: ${uid}, ResourceVersion: ${resourceVersion}, KubeletConfigKey: ${kubeletConfigKey}`;
    return `Kubelet restarting to use ${configMapLink(configMap)}, ${version}`;
  }
  if (before?.configMap !== undefined) return "Kubelet restarting to use local config";
  return `the kubelet restarts, applying configuration ${shortDigest(digest)}`;
}
