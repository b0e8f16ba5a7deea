// The node in its cluster: registration, status, lease, requests to the API server, and volumes that outlive pods. Times are ms.
import { isIP } from "node:net";
import { type ConfigReader, SECOND } from "./reader.js";

export type NodeObjectSettings = Readonly<ReturnType<typeof nodeObjectSettings>>;

export function nodeObjectSettings(read: ConfigReader) {
  return {
    registerNode: read.bool("registerNode"),
    kubeletRegistrationGetOnExistsOnly: read.gate("KubeletRegistrationGetOnExistsOnly"),
    registerWithTaints: read.config.get("registerWithTaints") ?? [],
    providerID: read.text("providerID"),
    rotateCertificates: read.bool("rotateCertificates"),
    allowDNSOnlyNodeCSR: read.gate("AllowDNSOnlyNodeCSR"),
    nodeStatusUpdateFrequencyMs: read.number("nodeStatusUpdateFrequency"),
    nodeStatusReportFrequencyMs: read.number("nodeStatusReportFrequency"),
    /** Negative: no limit. */
    nodeStatusMaxImages: read.config.get("nodeStatusMaxImages") ?? -1,
    nodeLeaseDurationSeconds: read.number("nodeLeaseDurationSeconds"),
    /** Of requests to the API server. */
    contentType: read.text("contentType"),
    kubeAPIQPS: read.number("kubeAPIQPS"),
    kubeAPIBurst: read.number("kubeAPIBurst"),
    eventRecordQPS: read.number("eventRecordQPS"),
    eventBurst: read.number("eventBurst"),
    enableControllerAttachDetach: read.config.get("enableControllerAttachDetach") ?? true,
    volumeStatsAggPeriodMs: read.number("volumeStatsAggPeriod"),
    csiVolumeHealth: read.gate("CSIVolumeHealth"),
    seLinuxMount: read.gate("SELinuxMount"),
    clusterTrustBundleProjection: read.gate("ClusterTrustBundleProjection"),
    podCertificateRequest: read.gate("PodCertificateRequest"),
    configMapAndSecretChangeDetectionStrategy: read.text("configMapAndSecretChangeDetectionStrategy"),
  };
}

// DNS and addresses of pods, and iptables.

export type NetworkSettings = Readonly<ReturnType<typeof networkSettings>>;

export function networkSettings(read: ConfigReader) {
  return {
    /** Only addresses; a warning names the other entries. */
    clusterDNS: read.texts("clusterDNS").filter((address) => isIP(address) !== 0),
    clusterDomain: read.text("clusterDomain"),
    /** "": the runtime has its own. Only for a stand-alone node. */
    podCIDR: read.text("podCIDR"),
    /** "": pods get no resolver configuration of the host. */
    resolvConf: read.text("resolvConf"),
    makeIPTablesUtilChains: read.bool("makeIPTablesUtilChains"),
  };
}

// Sources of static pods, and the interval between two syncs of each pod. Times are ms.

/** Upstream's shortest limit of the sync loop's age. */
const SYNC_LOOP_MIN_AGE_MS = 5 * 60 * SECOND;

export function sourceSettings(read: ConfigReader) {
  const syncFrequencyMs = read.period("syncFrequency", 60 * SECOND);
  return {
    staticPodPath: read.text("staticPodPath"),
    staticPodURL: read.text("staticPodURL"),
    staticPodURLHeader: read.config.get("staticPodURLHeader") ?? {},
    fileCheckFrequencyMs: read.period("fileCheckFrequency", 20 * SECOND),
    httpCheckFrequencyMs: read.period("httpCheckFrequency", 20 * SECOND),
    preventStaticPodAPIReferences: read.gate("PreventStaticPodAPIReferences"),
    syncFrequencyMs,
    /** /healthz fails when the sync loop has not run for this long. */
    syncLoopMaxAgeMs: Math.max(2 * syncFrequencyMs, SYNC_LOOP_MIN_AGE_MS),
  };
}
