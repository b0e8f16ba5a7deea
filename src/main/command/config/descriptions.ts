// What each field is for, in a line: for editors that complete a configuration file by the JSON Schema. Fields that a flag
// mirrors have the flag's help unless that speaks of flags.
import { flagsOf } from "../flags/table.js";
import { FIELDS, type Field, type FieldPath } from "./fields.js";

const DESCRIPTIONS: Partial<Record<FieldPath, string>> = {
  podLogsDir: "directory of the pods' logs",
  fileCheckFrequency: "time between scans of staticPodPath",
  httpCheckFrequency: "time between requests to staticPodURL",
  staticPodURLHeader: "headers of requests to staticPodURL: name to list of values; shown masked",
  tlsCertFile: "serving certificate; without it one is made in the directory of certificates",
  tlsPrivateKeyFile: "private key of tlsCertFile",
  tlsCurvePreferences: "key exchanges by Go's numbers, such as 29 (X25519) and 23 (P-256); their order does not count",
  imagePullCredentialsVerificationPolicy: "for which images on the node a pod must show credentials of its own",
  preloadedImagesVerificationAllowlist:
    "images that need no credentials under NeverVerifyAllowlistedImages: names, or prefixes that end in /*",
  nodeStatusReportFrequency: "time between two reports of an unchanged node status",
  nodeLeaseDurationSeconds:
    "seconds after which a lease that is not renewed counts as lost; renewed at a quarter of it",
  imageMaximumGCAge: "an image that nobody used for this long is removed; 0s: no such limit",
  systemCgroups: "cgroup for other processes of the root cgroup; needs cgroupRoot",
  singleProcessOOMKill:
    "out of memory, kill one process and not its whole container; unset: as the cgroup version has it",
  cpuManagerPolicyOptions: "options of the CPU manager's policy by name",
  topologyManagerPolicyOptions: "options of the topology manager's policy by name",
  qosReserved: "kept for guaranteed pods by resource, such as memory: 50%",
  runOnce: "not possible in a file: use the flag --runonce",
  maxParallelImagePulls: "image pulls at once; above 1 only without serializeImagePulls",
  evictionHard: "thresholds by signal at which pods are evicted at once: a quantity or a percentage",
  evictionSoft: "thresholds by signal at which pods are evicted after evictionSoftGracePeriod",
  evictionSoftGracePeriod: "how long a soft threshold may be crossed, by signal",
  evictionMinimumReclaim: "how much at least is freed, by signal",
  mergeDefaultEvictionSettings: "signals that evictionHard does not name keep their default thresholds",
  podsPerCore: "most pods per CPU, within maxPods; 0: no such limit",
  iptablesMasqueradeBit: "without effect since Kubernetes 1.28",
  iptablesDropBit: "without effect since Kubernetes 1.28",
  featureGates: "features to turn on or off, by name",
  "memorySwap.swapBehavior": "NoSwap, or LimitedSwap: pods swap in proportion to their memory request",
  containerLogMaxWorkers: "logs rotated at once",
  containerLogMonitorInterval: "time between two looks at the size of logs",
  configMapAndSecretChangeDetectionStrategy: "how changes of ConfigMaps and Secrets are noticed",
  kubeReserved: "kept back for Kubernetes: cpu, memory, ephemeral-storage, pid",
  showHiddenMetricsForVersion: "release whose hidden metrics are shown; the previous one only",
  systemReservedCgroup: "cgroup that systemReserved is enforced on",
  kubeReservedCgroup: "cgroup that kubeReserved is enforced on",
  "logging.vmodule": "levels by source file; text format only",
  enableSystemLogHandler: "serve the files of /var/log at /logs/",
  enableSystemLogQuery: "answer queries of the system's log at /logs/; needs enableSystemLogHandler",
  shutdownGracePeriod: "how long the node's shutdown is held back for pods to end",
  shutdownGracePeriodCriticalPods: "the part of shutdownGracePeriod that is kept for critical pods",
  shutdownGracePeriodByPodPriority: "the same by pod priority, in place of the two periods",
  "crashLoopBackOff.maxContainerRestartPeriod": "longest wait before a crashed container is started again, 1s to 300s",
  reservedMemory: "memory kept back per NUMA node",
  enableProfilingHandler: "serve profiles at /debug/pprof/",
  enableDebugFlagsHandler: "let the log's verbosity be set at /debug/flags/v",
  seccompDefault: "RuntimeDefault seccomp profile for pods that name none",
  memoryThrottlingFactor: "memory.high as a part of the way from request to limit, above 0 to 1",
  memoryReservationPolicy: "None, or TieredReservation: memory.min and memory.low by QoS class",
  registerWithTaints: "taints of the node when it first registers",
  "tracing.endpoint": "collector of traces (OTLP over gRPC); unset: localhost:4317",
  "tracing.samplingRatePerMillion": "spans sampled per million, 0 to 1000000; unset: none",
  "userNamespaces.idsPerPod": "user and group ids per pod with a user namespace, a multiple of 65536",
};

export function descriptionOf(path: FieldPath): string {
  const field: Field = FIELDS[path];
  const text =
    DESCRIPTIONS[path] ?? (field.flag === undefined ? undefined : flagsOf("linux").byName.get(field.flag)?.help);
  if (text === undefined) throw new Error(`${path} has no description: write one here`);
  return text;
}
