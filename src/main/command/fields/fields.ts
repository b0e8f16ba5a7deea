// Every field of KubeletConfiguration (kubelet.config.k8s.io/v1beta1) in Kubernetes 1.36. A row has the field's type,
// default, flag and description, and whether this kubelet acts on it. Reading, merging, defaults, flags, print, schema
// and validation use this table. Defaults stand as JSON has them (durations are text). Source: upstream's API
// reference, https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/

import type { Decoded, ValueType } from "../value-types.js";

export interface Field<T extends ValueType = ValueType> {
  readonly type: T;
  /** As JSON; absent: unset. */
  readonly default?: unknown;
  /** In place of `default` when the kubelet is started without --config, as upstream has it. */
  readonly flagOnlyDefault?: unknown;
  /** Long name of the flag that writes this field. */
  readonly flag?: string;
  /** A zero value in a file means the default (upstream's fields that are no pointers). Flags may set zero. */
  readonly zeroIsDefault?: boolean;
  /** A relative path in a file is relative to that file's folder. */
  readonly isPath?: boolean;
  /** One line for the JSON Schema; absent: the help text of `flag`. */
  readonly help?: string;
  /**
   * false: the kubelet validates and shows the field, but nothing reads it. The start-up log names such fields when
   * they are set.
   */
  readonly actedOn?: false;
}

const field = <T extends ValueType>(type: T, row: Omit<Field, "type"> = {}): Field<T> => ({ type, ...row });

/** By path; the fields of listed objects belong to the list's type (see value-types.ts). */
export const FIELDS = {
  enableServer: field("bool", { default: true, flag: "enable-server" }),
  staticPodPath: field("string", { default: "", flag: "pod-manifest-path", isPath: true }),
  podLogsDir: field("string", {
    default: "/var/log/pods",
    zeroIsDefault: true,
    isPath: true,
    help: "directory of pod logs",
  }),
  syncFrequency: field("duration", { default: "1m0s", flag: "sync-frequency", zeroIsDefault: true }),
  fileCheckFrequency: field("duration", {
    default: "20s",
    flag: "file-check-frequency",
    zeroIsDefault: true,
    help: "period between scans of staticPodPath",
  }),
  httpCheckFrequency: field("duration", {
    default: "20s",
    flag: "http-check-frequency",
    zeroIsDefault: true,
    help: "period between requests to staticPodURL",
  }),
  staticPodURL: field("string", { default: "", flag: "manifest-url" }),
  staticPodURLHeader: field("headerMap", {
    flag: "manifest-url-header",
    help: "HTTP headers for staticPodURL: name to list of values; masked in all output but /configz",
  }),
  address: field("string", { default: "0.0.0.0", flag: "address", zeroIsDefault: true }),
  port: field("int32", { default: 10250, flag: "port", zeroIsDefault: true }),
  readOnlyPort: field("int32", { default: 0, flagOnlyDefault: 10255, flag: "read-only-port" }),
  tlsCertFile: field("string", {
    default: "",
    flag: "tls-cert-file",
    isPath: true,
    help: "x509 certificate for HTTPS; if not set, the kubelet creates a self-signed certificate in the certificate directory",
  }),
  tlsPrivateKeyFile: field("string", {
    default: "",
    flag: "tls-private-key-file",
    isPath: true,
    help: "x509 private key that matches tlsCertFile",
  }),
  tlsCipherSuites: field("strings", { flag: "tls-cipher-suites" }),
  tlsCurvePreferences: field("ints", {
    help: "key exchange curves by Go's numbers, for example 29 (X25519) and 23 (P-256); the order has no effect",
  }),
  tlsMinVersion: field("string", { default: "", flag: "tls-min-version" }),
  rotateCertificates: field("bool", { default: false, flag: "rotate-certificates" }),
  serverTLSBootstrap: field("bool", { default: false, flag: "rotate-server-certificates" }),
  "authentication.x509.clientCAFile": field("string", { default: "", flag: "client-ca-file", isPath: true }),
  "authentication.webhook.enabled": field("bool", {
    default: true,
    flagOnlyDefault: false,
    flag: "authentication-token-webhook",
  }),
  "authentication.webhook.cacheTTL": field("duration", {
    default: "2m0s",
    flag: "authentication-token-webhook-cache-ttl",
    zeroIsDefault: true,
  }),
  "authentication.anonymous.enabled": field("bool", { default: false, flagOnlyDefault: true, flag: "anonymous-auth" }),
  "authorization.mode": field("string", {
    default: "Webhook",
    flagOnlyDefault: "AlwaysAllow",
    flag: "authorization-mode",
    zeroIsDefault: true,
  }),
  "authorization.webhook.cacheAuthorizedTTL": field("duration", {
    default: "5m0s",
    flag: "authorization-webhook-cache-authorized-ttl",
    zeroIsDefault: true,
  }),
  "authorization.webhook.cacheUnauthorizedTTL": field("duration", {
    default: "30s",
    flag: "authorization-webhook-cache-unauthorized-ttl",
    zeroIsDefault: true,
  }),
  registryPullQPS: field("int32", { default: 5, flag: "registry-qps" }),
  registryBurst: field("int32", { default: 10, flag: "registry-burst", zeroIsDefault: true }),
  imagePullCredentialsVerificationPolicy: field("string", {
    zeroIsDefault: true,
    help: "which images on the node require a pod to have its own credentials",
  }),
  preloadedImagesVerificationAllowlist: field("strings", {
    help: "images that need no credentials with NeverVerifyAllowlistedImages: names, or prefixes that end in /*",
  }),
  eventRecordQPS: field("int32", { default: 50, flag: "event-qps" }),
  eventBurst: field("int32", { default: 100, flag: "event-burst", zeroIsDefault: true }),
  enableDebuggingHandlers: field("bool", { default: true, flag: "enable-debugging-handlers" }),
  enableContentionProfiling: field("bool", { default: false, flag: "contention-profiling", actedOn: false }),
  healthzPort: field("int32", { default: 10248, flag: "healthz-port" }),
  healthzBindAddress: field("string", { default: "127.0.0.1", flag: "healthz-bind-address", zeroIsDefault: true }),
  oomScoreAdj: field("int32", { default: -999, flag: "oom-score-adj" }),
  clusterDomain: field("string", { default: "", flag: "cluster-domain" }),
  clusterDNS: field("strings", { flag: "cluster-dns" }),
  streamingConnectionIdleTimeout: field("duration", {
    default: "4h0m0s",
    flag: "streaming-connection-idle-timeout",
    zeroIsDefault: true,
  }),
  nodeStatusUpdateFrequency: field("duration", {
    default: "10s",
    flag: "node-status-update-frequency",
    zeroIsDefault: true,
  }),
  nodeStatusReportFrequency: field("duration", {
    default: "5m0s",
    zeroIsDefault: true,
    help: "period between two reports of an unchanged node status",
  }),
  nodeLeaseDurationSeconds: field("int32", {
    default: 40,
    zeroIsDefault: true,
    help: "duration of the node lease in seconds; the kubelet renews it every quarter of this duration",
  }),
  imageMinimumGCAge: field("duration", { default: "2m0s", flag: "minimum-image-ttl-duration", zeroIsDefault: true }),
  imageMaximumGCAge: field("duration", {
    default: "0s",
    help: "maximum age of an unused image before it is garbage collected; 0s: no limit",
  }),
  imageGCHighThresholdPercent: field("int32", { default: 85, flag: "image-gc-high-threshold" }),
  imageGCLowThresholdPercent: field("int32", { default: 80, flag: "image-gc-low-threshold" }),
  volumeStatsAggPeriod: field("duration", { default: "1m0s", flag: "volume-stats-agg-period", zeroIsDefault: true }),
  kubeletCgroups: field("string", { default: "", flag: "kubelet-cgroups" }),
  systemCgroups: field("string", {
    default: "",
    flag: "system-cgroups",
    help: "cgroup for non-kernel processes of the root cgroup; requires cgroupRoot",
  }),
  cgroupRoot: field("string", { default: "", flag: "cgroup-root" }),
  cgroupsPerQOS: field("bool", { default: true, flag: "cgroups-per-qos" }),
  cgroupDriver: field("string", { default: "cgroupfs", flag: "cgroup-driver", zeroIsDefault: true }),
  cpuManagerPolicy: field("string", { default: "none", flag: "cpu-manager-policy", zeroIsDefault: true }),
  singleProcessOOMKill: field("bool", {
    help: "on OOM, kill a single process instead of the whole container; unset: true on cgroup v1, false on cgroup v2",
  }),
  cpuManagerPolicyOptions: field("stringMap", {
    flag: "cpu-manager-policy-options",
    help: "options of the CPU manager policy by name",
  }),
  cpuManagerReconcilePeriod: field("duration", {
    default: "10s",
    flag: "cpu-manager-reconcile-period",
    zeroIsDefault: true,
  }),
  memoryManagerPolicy: field("string", { default: "None", flag: "memory-manager-policy", zeroIsDefault: true }),
  topologyManagerPolicy: field("string", { default: "none", flag: "topology-manager-policy", zeroIsDefault: true }),
  topologyManagerScope: field("string", { default: "container", flag: "topology-manager-scope", zeroIsDefault: true }),
  topologyManagerPolicyOptions: field("stringMap", {
    flag: "topology-manager-policy-options",
    help: "options of the topology manager policy by name",
  }),
  qosReserved: field("stringMap", {
    flag: "qos-reserved",
    help: "part of the Guaranteed pods' requests that lower QoS classes cannot use, for example memory: 50%",
  }),
  runtimeRequestTimeout: field("duration", { default: "2m0s", flag: "runtime-request-timeout", zeroIsDefault: true }),
  hairpinMode: field("string", {
    default: "promiscuous-bridge",
    flag: "hairpin-mode",
    zeroIsDefault: true,
    actedOn: false,
  }),
  maxPods: field("int32", { default: 110, flag: "max-pods", zeroIsDefault: true }),
  podCIDR: field("string", { default: "", flag: "pod-cidr" }),
  podPidsLimit: field("int64", { default: -1, flag: "pod-max-pids" }),
  resolvConf: field("string", { default: "/etc/resolv.conf", flag: "resolv-conf", isPath: true }),
  runOnce: field("bool", {
    default: false,
    flag: "runonce",
    help: "not allowed in a file: use the flag --runonce",
  }),
  cpuCFSQuota: field("bool", { default: true, flag: "cpu-cfs-quota" }),
  cpuCFSQuotaPeriod: field("duration", { default: "100ms", flag: "cpu-cfs-quota-period" }),
  nodeStatusMaxImages: field("int32", { default: 50, flag: "node-status-max-images" }),
  maxOpenFiles: field("int64", { default: 1000000, flag: "max-open-files", zeroIsDefault: true }),
  contentType: field("string", {
    default: "application/vnd.kubernetes.protobuf",
    flag: "kube-api-content-type",
    zeroIsDefault: true,
  }),
  kubeAPIQPS: field("int32", { default: 50, flag: "kube-api-qps" }),
  kubeAPIBurst: field("int32", { default: 100, flag: "kube-api-burst", zeroIsDefault: true }),
  serializeImagePulls: field("bool", { default: true, flag: "serialize-image-pulls" }),
  maxParallelImagePulls: field("int32", {
    help: "maximum number of parallel image pulls; above 1 only with serializeImagePulls: false",
  }),
  evictionHard: field("stringMap", {
    default: {
      "memory.available": "100Mi",
      "nodefs.available": "10%",
      "nodefs.inodesFree": "5%",
      "imagefs.available": "15%",
      "imagefs.inodesFree": "5%",
    },
    flagOnlyDefault: {},
    flag: "eviction-hard",
    help: "hard eviction thresholds by signal: a quantity or a percentage",
  }),
  evictionSoft: field("stringMap", {
    flag: "eviction-soft",
    help: "soft eviction thresholds by signal; pods are evicted after evictionSoftGracePeriod",
  }),
  evictionSoftGracePeriod: field("stringMap", {
    flag: "eviction-soft-grace-period",
    help: "grace periods of soft eviction thresholds, by signal",
  }),
  evictionPressureTransitionPeriod: field("duration", {
    default: "5m0s",
    flag: "eviction-pressure-transition-period",
    zeroIsDefault: true,
  }),
  evictionMaxPodGracePeriod: field("int32", { default: 0, flag: "eviction-max-pod-grace-period" }),
  evictionMinimumReclaim: field("stringMap", {
    flag: "eviction-minimum-reclaim",
    help: "minimum amount to reclaim in an eviction, by signal",
  }),
  mergeDefaultEvictionSettings: field("bool", {
    default: false,
    help: "keep the default thresholds of signals that evictionHard does not set",
  }),
  podsPerCore: field("int32", {
    default: 0,
    flag: "pods-per-core",
    help: "maximum number of pods per core, at most maxPods; 0: no limit",
  }),
  enableControllerAttachDetach: field("bool", { default: true, flag: "enable-controller-attach-detach" }),
  protectKernelDefaults: field("bool", { default: false, flag: "protect-kernel-defaults" }),
  makeIPTablesUtilChains: field("bool", { default: true, flag: "make-iptables-util-chains" }),
  iptablesMasqueradeBit: field("int32", { default: 14, help: "no effect since Kubernetes 1.28", actedOn: false }),
  iptablesDropBit: field("int32", { default: 15, help: "no effect since Kubernetes 1.28", actedOn: false }),
  featureGates: field("boolMap", { flag: "feature-gates", help: "feature gates by name" }),
  failSwapOn: field("bool", { default: true, flag: "fail-swap-on" }),
  "memorySwap.swapBehavior": field("string", {
    default: "",
    help: "NoSwap, or LimitedSwap: swap in proportion to the memory request",
  }),
  containerLogMaxSize: field("string", { default: "10Mi", flag: "container-log-max-size", zeroIsDefault: true }),
  containerLogMaxFiles: field("int32", { default: 5, flag: "container-log-max-files" }),
  containerLogMaxWorkers: field("int32", { default: 1, help: "maximum number of parallel log rotations" }),
  containerLogMonitorInterval: field("duration", {
    default: "10s",
    help: "period between two checks of the size of container logs",
  }),
  configMapAndSecretChangeDetectionStrategy: field("string", {
    default: "Watch",
    zeroIsDefault: true,
    help: "how the kubelet detects changes of ConfigMaps and Secrets: Watch, Cache or Get",
  }),
  systemReserved: field("stringMap", { flag: "system-reserved" }),
  kubeReserved: field("stringMap", {
    flag: "kube-reserved",
    help: "resources reserved for Kubernetes components: cpu, memory, ephemeral-storage, pid",
  }),
  reservedSystemCPUs: field("string", { default: "", flag: "reserved-cpus" }),
  showHiddenMetricsForVersion: field("string", {
    default: "",
    help: "previous release whose hidden metrics are shown",
    actedOn: false,
  }),
  systemReservedCgroup: field("string", {
    default: "",
    flag: "system-reserved-cgroup",
    help: "cgroup on which systemReserved is enforced",
  }),
  kubeReservedCgroup: field("string", {
    default: "",
    flag: "kube-reserved-cgroup",
    help: "cgroup on which kubeReserved is enforced",
  }),
  enforceNodeAllocatable: field("strings", { default: ["pods"], flag: "enforce-node-allocatable" }),
  allowedUnsafeSysctls: field("strings", { flag: "allowed-unsafe-sysctls" }),
  volumePluginDir: field("string", {
    default: "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/",
    flag: "volume-plugin-dir",
    zeroIsDefault: true,
    isPath: true,
  }),
  providerID: field("string", { default: "", flag: "provider-id" }),
  kernelMemcgNotification: field("bool", { default: false, flag: "kernel-memcg-notification" }),
  "logging.format": field("string", { default: "text", flag: "logging-format", zeroIsDefault: true }),
  "logging.flushFrequency": field("durationOrNanos", {
    default: "5s",
    flag: "log-flush-frequency",
    zeroIsDefault: true,
  }),
  "logging.verbosity": field("uint32", { default: 0, flag: "v" }),
  "logging.vmodule": field("vmodule", { flag: "vmodule", help: "verbosity by module; only for the text format" }),
  "logging.options.text.splitStream": field("bool", { default: false, flag: "log-text-split-stream" }),
  "logging.options.text.infoBufferSize": field("quantity", { default: "0", flag: "log-text-info-buffer-size" }),
  "logging.options.json.splitStream": field("bool", { default: false, flag: "log-json-split-stream" }),
  "logging.options.json.infoBufferSize": field("quantity", { default: "0", flag: "log-json-info-buffer-size" }),
  enableSystemLogHandler: field("bool", {
    default: true,
    help: "enable the system log handler: files of /var/log at /logs/",
  }),
  enableSystemLogQuery: field("bool", {
    default: false,
    help: "enable the node log query at /logs/; requires enableSystemLogHandler",
  }),
  shutdownGracePeriod: field("duration", {
    default: "0s",
    help: "total duration that the kubelet delays the node shutdown for pods to terminate",
  }),
  shutdownGracePeriodCriticalPods: field("duration", {
    default: "0s",
    help: "part of shutdownGracePeriod for critical pods",
  }),
  shutdownGracePeriodByPodPriority: field("shutdownPriorities", {
    help: "shutdown grace periods by pod priority; replaces the two periods",
  }),
  "crashLoopBackOff.maxContainerRestartPeriod": field("duration", {
    help: "maximum back-off of container restarts, 1s to 300s",
  }),
  reservedMemory: field("reservedMemory", { flag: "reserved-memory", help: "memory reserved per NUMA node" }),
  enableProfilingHandler: field("bool", { default: true, help: "enable profiling at /debug/pprof/" }),
  enableDebugFlagsHandler: field("bool", {
    default: true,
    help: "enable the endpoint /debug/flags/v that sets the log verbosity",
  }),
  seccompDefault: field("bool", { default: false, help: "use RuntimeDefault as the default seccomp profile" }),
  memoryThrottlingFactor: field("float64", {
    default: 0.9,
    help: "factor for memory.high between memory request and limit; above 0, at most 1",
  }),
  memoryReservationPolicy: field("string", {
    default: "None",
    zeroIsDefault: true,
    help: "None, or TieredReservation: memory.min and memory.low by QoS class",
  }),
  registerWithTaints: field("taints", {
    flag: "register-with-taints",
    help: "taints to add when the node registers",
  }),
  registerNode: field("bool", { default: true, flag: "register-node" }),
  "tracing.endpoint": field("string", {
    help: "endpoint of the trace collector (OTLP over gRPC); unset: localhost:4317",
  }),
  "tracing.samplingRatePerMillion": field("int32", {
    help: "number of samples per million spans, 0 to 1000000; unset: none",
  }),
  localStorageCapacityIsolation: field("bool", { default: true, flag: "local-storage-capacity-isolation" }),
  containerRuntimeEndpoint: field("string", {
    default: "unix:///run/containerd/containerd.sock",
    flag: "container-runtime-endpoint",
    zeroIsDefault: true,
  }),
  imageServiceEndpoint: field("string", { default: "", flag: "image-service-endpoint" }),
  failCgroupV1: field("bool", { default: true, flag: "fail-cgroupv1" }),
  "userNamespaces.idsPerPod": field("int64", {
    help: "number of user and group ids per pod with a user namespace, a multiple of 65536",
  }),
} as const;

export type FieldPath = keyof typeof FIELDS;

/** The decoded value of a field (durations: ms). */
export type FieldValue<P extends FieldPath> = Decoded[(typeof FIELDS)[P]["type"]];
