// Every field of KubeletConfiguration (kubelet.config.k8s.io/v1beta1) in Kubernetes 1.36: path, type and default. A field
// that stands here is known: the loader checks its type; any other name is refused. "[]" marks a list of objects.
// Source: upstream's API reference, https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/

export type FieldType =
  | "string"
  | "bool"
  | "int32"
  | "int64"
  | "uint32"
  | "float64"
  /** Go duration text: "1m30s". */
  | "duration"
  /** Go duration text, or nanoseconds. */
  | "durationOrNanos"
  | "quantity"
  | "strings"
  | "ints"
  | "stringMap"
  | "boolMap"
  | "quantityMap"
  /** Name to list of values. */
  | "headerMap";

export interface ConfigField {
  readonly path: string;
  readonly type: FieldType;
  /** undefined: unset. */
  readonly default?: unknown;
}

const field = (path: string, type: FieldType, defaultValue?: unknown): ConfigField => ({
  path,
  type,
  ...(defaultValue === undefined ? {} : { default: defaultValue }),
});

export const CONFIG_FIELDS: readonly ConfigField[] = [
  field("enableServer", "bool", true),
  field("staticPodPath", "string", ""),
  field("podLogsDir", "string", "/var/log/pods"),
  field("syncFrequency", "duration", "1m"),
  field("fileCheckFrequency", "duration", "20s"),
  field("httpCheckFrequency", "duration", "20s"),
  field("staticPodURL", "string", ""),
  field("staticPodURLHeader", "headerMap"),
  field("address", "string", "0.0.0.0"),
  field("port", "int32", 10250),
  field("readOnlyPort", "int32", 0),
  field("tlsCertFile", "string", ""),
  field("tlsPrivateKeyFile", "string", ""),
  field("tlsCipherSuites", "strings"),
  field("tlsCurvePreferences", "ints"),
  field("tlsMinVersion", "string", ""),
  field("rotateCertificates", "bool", false),
  field("serverTLSBootstrap", "bool", false),
  field("authentication.x509.clientCAFile", "string", ""),
  field("authentication.webhook.enabled", "bool", true),
  field("authentication.webhook.cacheTTL", "duration", "2m"),
  field("authentication.anonymous.enabled", "bool", false),
  field("authorization.mode", "string", "Webhook"),
  field("authorization.webhook.cacheAuthorizedTTL", "duration", "5m"),
  field("authorization.webhook.cacheUnauthorizedTTL", "duration", "30s"),
  field("registryPullQPS", "int32", 5),
  field("registryBurst", "int32", 10),
  field("imagePullCredentialsVerificationPolicy", "string", "NeverVerifyPreloadedImages"),
  field("preloadedImagesVerificationAllowlist", "strings"),
  field("eventRecordQPS", "int32", 50),
  field("eventBurst", "int32", 100),
  field("enableDebuggingHandlers", "bool", true),
  field("enableContentionProfiling", "bool", false),
  field("healthzPort", "int32", 10248),
  field("healthzBindAddress", "string", "127.0.0.1"),
  field("oomScoreAdj", "int32", -999),
  field("clusterDomain", "string", ""),
  field("clusterDNS", "strings"),
  field("streamingConnectionIdleTimeout", "duration", "4h"),
  field("nodeStatusUpdateFrequency", "duration", "10s"),
  field("nodeStatusReportFrequency", "duration", "5m"),
  field("nodeLeaseDurationSeconds", "int32", 40),
  field("imageMinimumGCAge", "duration", "2m"),
  field("imageMaximumGCAge", "duration", "0s"),
  field("imageGCHighThresholdPercent", "int32", 85),
  field("imageGCLowThresholdPercent", "int32", 80),
  field("volumeStatsAggPeriod", "duration", "1m"),
  field("kubeletCgroups", "string", ""),
  field("systemCgroups", "string", ""),
  field("cgroupRoot", "string", ""),
  field("cgroupsPerQOS", "bool", true),
  field("cgroupDriver", "string", "cgroupfs"),
  field("cpuManagerPolicy", "string", "none"),
  field("singleProcessOOMKill", "bool"),
  field("cpuManagerPolicyOptions", "stringMap"),
  field("cpuManagerReconcilePeriod", "duration", "10s"),
  field("memoryManagerPolicy", "string", "None"),
  field("topologyManagerPolicy", "string", "none"),
  field("topologyManagerScope", "string", "container"),
  field("topologyManagerPolicyOptions", "stringMap"),
  field("qosReserved", "stringMap"),
  field("runtimeRequestTimeout", "duration", "2m"),
  field("hairpinMode", "string", "promiscuous-bridge"),
  field("maxPods", "int32", 110),
  field("podCIDR", "string", ""),
  field("podPidsLimit", "int64", -1),
  field("resolvConf", "string", "/etc/resolv.conf"),
  field("runOnce", "bool", false),
  field("cpuCFSQuota", "bool", true),
  field("cpuCFSQuotaPeriod", "duration", "100ms"),
  field("nodeStatusMaxImages", "int32", 50),
  field("maxOpenFiles", "int64", 1000000),
  field("contentType", "string", "application/vnd.kubernetes.protobuf"),
  field("kubeAPIQPS", "int32", 50),
  field("kubeAPIBurst", "int32", 100),
  field("serializeImagePulls", "bool", true),
  field("maxParallelImagePulls", "int32"),
  field("evictionHard", "stringMap", {
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
    "imagefs.available": "15%",
    "imagefs.inodesFree": "5%",
  }),
  field("evictionSoft", "stringMap"),
  field("evictionSoftGracePeriod", "stringMap"),
  field("evictionPressureTransitionPeriod", "duration", "5m"),
  field("evictionMaxPodGracePeriod", "int32", 0),
  field("evictionMinimumReclaim", "stringMap"),
  field("mergeDefaultEvictionSettings", "bool", false),
  field("podsPerCore", "int32", 0),
  field("enableControllerAttachDetach", "bool", true),
  field("protectKernelDefaults", "bool", false),
  field("makeIPTablesUtilChains", "bool", true),
  field("iptablesMasqueradeBit", "int32", 14),
  field("iptablesDropBit", "int32", 15),
  field("featureGates", "boolMap"),
  field("failSwapOn", "bool", true),
  field("memorySwap.swapBehavior", "string", ""),
  field("containerLogMaxSize", "string", "10Mi"),
  field("containerLogMaxFiles", "int32", 5),
  field("containerLogMaxWorkers", "int32", 1),
  field("containerLogMonitorInterval", "duration", "10s"),
  field("configMapAndSecretChangeDetectionStrategy", "string", "Watch"),
  field("systemReserved", "stringMap"),
  field("kubeReserved", "stringMap"),
  field("reservedSystemCPUs", "string", ""),
  field("showHiddenMetricsForVersion", "string", ""),
  field("systemReservedCgroup", "string", ""),
  field("kubeReservedCgroup", "string", ""),
  field("enforceNodeAllocatable", "strings", ["pods"]),
  field("allowedUnsafeSysctls", "strings"),
  field("volumePluginDir", "string", "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/"),
  field("providerID", "string", ""),
  field("kernelMemcgNotification", "bool", false),
  field("logging.format", "string", "text"),
  field("logging.flushFrequency", "durationOrNanos", "5s"),
  field("logging.verbosity", "uint32", 0),
  field("logging.vmodule[].filePattern", "string"),
  field("logging.vmodule[].verbosity", "uint32"),
  field("logging.options.text.splitStream", "bool", false),
  field("logging.options.text.infoBufferSize", "quantity", "0"),
  field("logging.options.json.splitStream", "bool", false),
  field("logging.options.json.infoBufferSize", "quantity", "0"),
  field("enableSystemLogHandler", "bool", true),
  field("enableSystemLogQuery", "bool"),
  field("shutdownGracePeriod", "duration", "0s"),
  field("shutdownGracePeriodCriticalPods", "duration", "0s"),
  field("shutdownGracePeriodByPodPriority[].priority", "int32"),
  field("shutdownGracePeriodByPodPriority[].shutdownGracePeriodSeconds", "int64"),
  field("crashLoopBackOff.maxContainerRestartPeriod", "duration", "300s"),
  field("reservedMemory[].numaNode", "int32"),
  field("reservedMemory[].limits", "quantityMap"),
  field("enableProfilingHandler", "bool", true),
  field("enableDebugFlagsHandler", "bool", true),
  field("seccompDefault", "bool", false),
  field("memoryThrottlingFactor", "float64", 0.9),
  field("memoryReservationPolicy", "string", "None"),
  field("registerWithTaints[].key", "string"),
  field("registerWithTaints[].value", "string"),
  field("registerWithTaints[].effect", "string"),
  field("registerWithTaints[].timeAdded", "string"),
  field("registerNode", "bool", true),
  field("tracing.endpoint", "string"),
  field("tracing.samplingRatePerMillion", "int32"),
  field("localStorageCapacityIsolation", "bool", true),
  field("containerRuntimeEndpoint", "string", "unix:///run/containerd/containerd.sock"),
  field("imageServiceEndpoint", "string", ""),
  field("failCgroupV1", "bool", true),
  field("userNamespaces.idsPerPod", "int64"),
];
