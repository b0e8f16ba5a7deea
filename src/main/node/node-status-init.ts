// Makes the init data of the node-status thread from the settings.

import type { WallTime } from "../../shared/base/clock/moments.js";
import { goPlatform } from "../../shared/base/text/go-platform.js";
import type { NodeStatusInit } from "../../shared/contracts/node-status.js";
import type { ClientConfig } from "../../shared/kubernetes/api/client/config.js";
import type { Settings } from "../command/settings-of.js";
import { nodeConfigFiles } from "./certificates/certificate-files.js";

export type NodeStatusSettings = Pick<Settings, "node" | "resources" | "eviction" | "server"> &
  Pick<
    Settings,
    | "kubeconfig"
    | "certDir"
    | "rootDir"
    | "nodeIPs"
    | "nodeLabels"
    | "cloudProvider"
    | "kubernetesVersion"
    | "dynamicConfigSources"
  >;

interface NodeStatusParts {
  nodeName: string;
  startedAtMs: WallTime;
  clientConfig: ClientConfig;
  /** Absent: without --dynamic-config-dir. */
  configuration?: unknown;
}

/** `settings`: from command line and files, before the machine's facts complete them. */
export function nodeStatusInit(
  settings: NodeStatusSettings,
  { nodeName, startedAtMs, clientConfig, configuration }: NodeStatusParts,
): NodeStatusInit {
  const platform = goPlatform();
  const [operatingSystem = "", architecture = ""] = platform.split("/");
  return {
    nodeName,
    hostname: nodeName,
    api: { ...nodeConfigFiles(settings), config: clientConfig },
    nodeLeaseDurationSeconds: settings.node.nodeLeaseDurationSeconds,
    nodeStatusUpdateFrequencyMs: settings.node.nodeStatusUpdateFrequencyMs,
    nodeStatusReportFrequencyMs: settings.node.nodeStatusReportFrequencyMs,
    registerNode: settings.node.registerNode,
    getOnExistsOnly: settings.node.kubeletRegistrationGetOnExistsOnly,
    registerWithTaints: settings.node.registerWithTaints.map(({ key, value, effect }) => ({ key, value, effect })),
    nodeLabels: { ...settings.nodeLabels },
    providerID: settings.node.providerID,
    externalCloudProvider: settings.cloudProvider === "external",
    enableControllerAttachDetach: settings.node.enableControllerAttachDetach,
    localStorageCapacityIsolation: settings.eviction.localStorageCapacityIsolation,
    nodeIPs: settings.nodeIPs,
    port: settings.server.port,
    kubeletVersion: settings.kubernetesVersion,
    userAgent: `kubelet/${settings.kubernetesVersion} (${platform}) kubernetes/nodelet`,
    operatingSystem,
    architecture,
    declaredFeatures: [...(settings.resources.declaredFeatures ?? [])],
    rootDir: settings.rootDir,
    startedAtMs,
    configSources: configuration === undefined ? undefined : settings.dynamicConfigSources,
  };
}
