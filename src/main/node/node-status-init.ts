// Makes the init data of the node-status thread from the settings.
import type { ClientConfig } from "../../shared/api/client/config.js";
import type { NodeStatusInit } from "../../shared/contracts/node-status.js";
import { goPlatform } from "./metrics.js";
import type { Settings } from "../command/settings.js";
import { nodeConfigFiles } from "./certificates/certificate-files.js";

export type NodeStatusSettings = Pick<
  Settings,
  | "declaredFeatures"
  | "kubeconfig"
  | "certDir"
  | "rotateCertificates"
  | "nodeIPs"
  | "nodeLabels"
  | "cloudProvider"
  | "registerNode"
  | "kubeletRegistrationGetOnExistsOnly"
  | "registerWithTaints"
  | "providerID"
  | "nodeStatusUpdateFrequencyMs"
  | "nodeStatusReportFrequencyMs"
  | "nodeLeaseDurationSeconds"
  | "nodeStatusMaxImages"
  | "enableControllerAttachDetach"
  | "localStorageCapacityIsolation"
  | "port"
  | "kubernetesVersion"
  | "rootDir"
>;

/** `settings`: from command line and files, before the machine's facts complete them. */
export function nodeStatusInit(
  settings: NodeStatusSettings,
  { nodeName, startedAtMs, clientConfig }: { nodeName: string; startedAtMs: number; clientConfig: ClientConfig },
): NodeStatusInit {
  const platform = goPlatform();
  const [operatingSystem = "", architecture = ""] = platform.split("/");
  return {
    nodeName,
    hostname: nodeName,
    api: { ...nodeConfigFiles(settings), config: clientConfig },
    nodeLeaseDurationSeconds: settings.nodeLeaseDurationSeconds,
    nodeStatusUpdateFrequencyMs: settings.nodeStatusUpdateFrequencyMs,
    nodeStatusReportFrequencyMs: settings.nodeStatusReportFrequencyMs,
    registerNode: settings.registerNode,
    getOnExistsOnly: settings.kubeletRegistrationGetOnExistsOnly,
    registerWithTaints: settings.registerWithTaints.map(({ key, value, effect }) => ({ key, value, effect })),
    nodeLabels: { ...settings.nodeLabels },
    providerID: settings.providerID,
    externalCloudProvider: settings.cloudProvider === "external",
    enableControllerAttachDetach: settings.enableControllerAttachDetach,
    localStorageCapacityIsolation: settings.localStorageCapacityIsolation,
    nodeIPs: settings.nodeIPs,
    port: settings.port,
    kubeletVersion: settings.kubernetesVersion,
    userAgent: `kubelet/${settings.kubernetesVersion} (${platform}) kubernetes/nodelet`,
    operatingSystem,
    architecture,
    declaredFeatures: [...(settings.declaredFeatures ?? [])],
    rootDir: settings.rootDir,
    startedAtMs,
  };
}
