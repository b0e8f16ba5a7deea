// The node in its cluster: registration, status, lease, requests to the API server, and volumes that outlive pods.
// Times are ms.

import { type ConfigReader } from "./reader.js";

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
    /** Media type of the bodies of requests to the API server. */
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
