// The table of settings: one row per flag and config field that this version acts on. Everything that knows a flag or a
// field (parsing, help, defaults, precedence, validation, the Settings type) reads it here, so a new flag is a new row.
import type { FieldType } from "./config-fields.js";
import {
  absolutePath,
  atLeast,
  between,
  endpoint,
  endpointOrEmpty,
  httpUrlOrEmpty,
  ip,
  ips,
  nodeIPs,
  notNegative,
  oneOf,
  port,
  unset,
  type Check,
} from "./checks.js";
import type { Decoded } from "./values.js";

export interface Option<T extends FieldType = FieldType> {
  readonly type: T;
  /** Long flag without its dashes; absent: config field only. */
  readonly flag?: string;
  readonly short?: string;
  /** Path in KubeletConfiguration; absent: flag only. */
  readonly field?: string;
  readonly default: Decoded[T];
  readonly help: string;
  readonly check?: Check<Decoded[T]>;
  /** An empty or zero value stands for the default, as upstream's defaulting has it. */
  readonly emptyIsDefault?: true;
  /** A relative path in the config file is relative to that file's folder. */
  readonly isPath?: true;
}

const option = <T extends FieldType>(type: T, row: Omit<Option<T>, "type">): Option<T> => ({ type, ...row });

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Keys of durations end in Ms: their values are milliseconds. */
export const OPTIONS = {
  config: option("string", { flag: "config", default: "", help: "file with a KubeletConfiguration, YAML or JSON" }),
  kubeconfig: option("string", {
    flag: "kubeconfig",
    default: "",
    help: "access to the API server (not in this version)",
    check: unset,
  }),
  rootDir: option("string", {
    flag: "root-dir",
    default: "/var/lib/kubelet",
    help: "directory of the agent's state",
    check: absolutePath,
  }),
  hostnameOverride: option("string", {
    flag: "hostname-override",
    default: "",
    help: "node name instead of the host name",
  }),
  nodeIPs: option("strings", {
    flag: "node-ip",
    default: [],
    help: "address of the node, or an IPv4 and an IPv6 one",
    check: nodeIPs,
  }),
  containerRuntimeEndpoint: option("string", {
    flag: "container-runtime-endpoint",
    field: "containerRuntimeEndpoint",
    default: "unix:///run/containerd/containerd.sock",
    help: "socket of the container runtime",
    check: endpoint,
    emptyIsDefault: true,
  }),
  imageServiceEndpoint: option("string", {
    flag: "image-service-endpoint",
    field: "imageServiceEndpoint",
    default: "",
    help: "socket of the image service; empty: the runtime's",
    check: endpointOrEmpty,
  }),
  runtimeRequestTimeoutMs: option("duration", {
    flag: "runtime-request-timeout",
    field: "runtimeRequestTimeout",
    default: 2 * MINUTE,
    help: "deadline of runtime calls except the long ones",
    check: notNegative,
    emptyIsDefault: true,
  }),
  staticPodPath: option("string", {
    flag: "pod-manifest-path",
    field: "staticPodPath",
    default: "",
    help: "file or directory of static pod manifests",
    isPath: true,
  }),
  staticPodURL: option("string", {
    flag: "manifest-url",
    field: "staticPodURL",
    default: "",
    help: "URL of static pod manifests",
    check: httpUrlOrEmpty,
  }),
  staticPodURLHeader: option("headerMap", {
    flag: "manifest-url-header",
    field: "staticPodURLHeader",
    default: {},
    help: "headers for --manifest-url, name:value, repeatable",
  }),
  fileCheckFrequencyMs: option("duration", {
    flag: "file-check-frequency",
    field: "fileCheckFrequency",
    default: 20 * SECOND,
    help: "time between scans of --pod-manifest-path",
    check: notNegative,
    emptyIsDefault: true,
  }),
  httpCheckFrequencyMs: option("duration", {
    flag: "http-check-frequency",
    field: "httpCheckFrequency",
    default: 20 * SECOND,
    help: "time between requests to --manifest-url",
    check: notNegative,
    emptyIsDefault: true,
  }),
  syncFrequencyMs: option("duration", {
    flag: "sync-frequency",
    field: "syncFrequency",
    default: MINUTE,
    help: "longest time between two syncs of a pod",
    check: notNegative,
    emptyIsDefault: true,
  }),
  address: option("string", {
    flag: "address",
    field: "address",
    default: "127.0.0.1",
    help: "IP the read-only port listens on",
    check: ip,
    emptyIsDefault: true,
  }),
  readOnlyPort: option("int32", {
    flag: "read-only-port",
    field: "readOnlyPort",
    default: 10255,
    help: "port of /pods, /healthz and /metrics without authentication; 0: off",
    check: port,
  }),
  healthzPort: option("int32", {
    flag: "healthz-port",
    field: "healthzPort",
    default: 10248,
    help: "port of the plain /healthz; 0: off",
    check: port,
  }),
  healthzBindAddress: option("string", {
    flag: "healthz-bind-address",
    field: "healthzBindAddress",
    default: "127.0.0.1",
    help: "IP the healthz port listens on",
    check: ip,
    emptyIsDefault: true,
  }),
  cgroupRoot: option("string", {
    flag: "cgroup-root",
    field: "cgroupRoot",
    default: "",
    help: "cgroup that holds the pods' cgroups; empty: the runtime's root",
  }),
  cgroupDriver: option("string", {
    flag: "cgroup-driver",
    field: "cgroupDriver",
    default: "cgroupfs",
    help: "cgroupfs or systemd; what the runtime says wins",
    check: oneOf("cgroupfs", "systemd"),
    emptyIsDefault: true,
  }),
  cgroupsPerQOS: option("bool", {
    flag: "cgroups-per-qos",
    field: "cgroupsPerQOS",
    default: true,
    help: "make a cgroup tree of QoS classes and pods",
  }),
  clusterDNS: option("strings", {
    flag: "cluster-dns",
    field: "clusterDNS",
    default: [],
    help: "name servers of pods with the ClusterFirst DNS policy",
    check: ips,
  }),
  clusterDomain: option("string", {
    flag: "cluster-domain",
    field: "clusterDomain",
    default: "",
    help: "domain of the cluster, searched by ClusterFirst pods",
  }),
  resolvConf: option("string", {
    flag: "resolv-conf",
    field: "resolvConf",
    default: "/etc/resolv.conf",
    help: "resolver file that pods' DNS settings start from; empty: none",
    isPath: true,
  }),
  maxPods: option("int32", {
    flag: "max-pods",
    field: "maxPods",
    default: 110,
    help: "most pods this node runs",
    check: atLeast(0),
    emptyIsDefault: true,
  }),
  podPidsLimit: option("int64", {
    flag: "pod-max-pids",
    field: "podPidsLimit",
    default: -1,
    help: "most processes per pod; -1: no limit",
  }),
  cpuCFSQuota: option("bool", {
    flag: "cpu-cfs-quota",
    field: "cpuCFSQuota",
    default: true,
    help: "enforce CPU limits by CFS quota",
  }),
  seccompDefault: option("bool", {
    flag: "seccomp-default",
    field: "seccompDefault",
    default: false,
    help: "RuntimeDefault seccomp profile for pods that name none",
  }),
  podLogsDir: option("string", {
    field: "podLogsDir",
    default: "/var/log/pods",
    help: "directory of the pods' logs",
    check: absolutePath,
    emptyIsDefault: true,
    isPath: true,
  }),
  oomScoreAdj: option("int32", {
    field: "oomScoreAdj",
    default: -999,
    help: "oom_score_adj of the agent itself",
    check: between(-1000, 1000),
  }),
  loggingFormat: option("string", {
    flag: "logging-format",
    field: "logging.format",
    default: "text",
    help: "shape of log lines: text or json",
    check: oneOf("text", "json"),
    emptyIsDefault: true,
  }),
  verbosity: option("int32", {
    flag: "v",
    short: "v",
    field: "logging.verbosity",
    default: 0,
    help: "log verbosity",
    check: between(0, 2147483647),
  }),
} as const;

export type SettingName = keyof typeof OPTIONS;

/** A row whose type is not known to the reader; its check takes a value that its type has already accepted. */
export type AnyOption = Omit<Option, "check"> & { readonly check?: Check<never> };

export const OPTION_ROWS: readonly [SettingName, AnyOption][] = Object.entries(OPTIONS) as [SettingName, AnyOption][];
