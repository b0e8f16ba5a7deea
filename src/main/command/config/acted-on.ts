// Fields that are read, checked and shown, but that nothing in this version acts on: an operator who sets one is told so.
// A field leaves the list of silence when something reads it: add it here.
import type { EffectiveConfig } from "./effective.js";
import { originText } from "./origin.js";
import type { FieldPath } from "./fields.js";
import { FIELD_ROWS, FIELD_SHAPES } from "./shape.js";
import { at, plain, treeOf } from "./tree.js";
import { canonical } from "./field-values.js";

const ACTED_ON: ReadonlySet<FieldPath> = new Set<FieldPath>([
  "staticPodPath",
  "podLogsDir",
  "containerLogMaxSize",
  "containerLogMaxFiles",
  "containerLogMaxWorkers",
  "containerLogMonitorInterval",
  "syncFrequency",
  "configMapAndSecretChangeDetectionStrategy",
  "fileCheckFrequency",
  "httpCheckFrequency",
  "staticPodURL",
  "staticPodURLHeader",
  "enableServer",
  "address",
  "port",
  "tlsCertFile",
  "tlsPrivateKeyFile",
  "tlsCipherSuites",
  "tlsCurvePreferences",
  "tlsMinVersion",
  "authentication.x509.clientCAFile",
  "authentication.webhook.enabled",
  "authentication.webhook.cacheTTL",
  "authentication.anonymous.enabled",
  "authorization.mode",
  "authorization.webhook.cacheAuthorizedTTL",
  "authorization.webhook.cacheUnauthorizedTTL",
  "enableDebuggingHandlers",
  "enableSystemLogHandler",
  "enableSystemLogQuery",
  "enableProfilingHandler",
  "enableDebugFlagsHandler",
  "streamingConnectionIdleTimeout",
  "readOnlyPort",
  "healthzPort",
  "healthzBindAddress",
  "oomScoreAdj",
  "crashLoopBackOff.maxContainerRestartPeriod",
  "clusterDomain",
  "clusterDNS",
  "cgroupRoot",
  "cgroupsPerQOS",
  "cgroupDriver",
  "runtimeRequestTimeout",
  "registerNode",
  "providerID",
  "nodeStatusUpdateFrequency",
  "nodeStatusReportFrequency",
  "nodeLeaseDurationSeconds",
  "nodeStatusMaxImages",
  "enableControllerAttachDetach",
  "maxPods",
  "podsPerCore",
  "allowedUnsafeSysctls",
  "registerWithTaints",
  "kubeReserved",
  "systemReserved",
  "reservedSystemCPUs",
  "cpuManagerPolicy",
  "cpuManagerPolicyOptions",
  "cpuManagerReconcilePeriod",
  "podPidsLimit",
  "shutdownGracePeriod",
  "shutdownGracePeriodCriticalPods",
  "shutdownGracePeriodByPodPriority",
  "resolvConf",
  "cpuCFSQuota",
  "cpuCFSQuotaPeriod",
  "singleProcessOOMKill",
  "memorySwap.swapBehavior",
  "memoryThrottlingFactor",
  "memoryReservationPolicy",
  "qosReserved",
  "enforceNodeAllocatable",
  "systemReservedCgroup",
  "kubeReservedCgroup",
  "kubeletCgroups",
  "systemCgroups",
  "protectKernelDefaults",
  "userNamespaces.idsPerPod",
  "featureGates",
  "failCgroupV1",
  "logging.verbosity",
  "seccompDefault",
  "containerRuntimeEndpoint",
  "imageServiceEndpoint",
  "serializeImagePulls",
  "maxParallelImagePulls",
  "registryPullQPS",
  "registryBurst",
  "imageMinimumGCAge",
  "imageMaximumGCAge",
  "imageGCHighThresholdPercent",
  "imageGCLowThresholdPercent",
  "imagePullCredentialsVerificationPolicy",
  "preloadedImagesVerificationAllowlist",
  "maxOpenFiles",
  "failSwapOn",
  "logging.format",
  "logging.flushFrequency",
  "logging.vmodule",
  "logging.options.text.splitStream",
  "logging.options.text.infoBufferSize",
  "logging.options.json.splitStream",
  "logging.options.json.infoBufferSize",
]);

/** The fields of this kind that were given another value than their default: a line for each source. */
export function notActedOn(config: EffectiveConfig): string[] {
  const bySource = new Map<string, FieldPath[]>();
  for (const [path, field] of FIELD_ROWS) {
    const node = at(config.tree, path);
    const shape = FIELD_SHAPES.get(path);
    if (ACTED_ON.has(path) || !config.isSet(path) || node === undefined || shape === undefined) continue;
    const standard = field.default === undefined ? undefined : canonical(shape, treeOf(field.default, node.origin));
    if (standard !== undefined && JSON.stringify(plain(standard)) === JSON.stringify(plain(node))) continue;
    const source = "file" in node.origin ? node.origin.file : originText(node.origin);
    bySource.set(source, [...(bySource.get(source) ?? []), path]);
  }
  return [...bySource].map(([source, paths]) => `${source}: accepted but not acted on yet: ${paths.join(", ")}`);
}
