// Flags of the agent's start, of its configuration and of its way to the API server.
import { equalOf, flag, mirror, type Flags } from "./flag.js";

export const START: Flags = {
  config: flag("string", "", "file with a KubeletConfiguration, YAML or JSON; flags given as well win over it"),
  "config-dir": flag("string", "", "directory of drop-ins (*.conf), merged over --config in the order of their names"),
  "dynamic-config-dir": flag(
    "string",
    "",
    "directory for checkpoints of the configuration: a changed one is tried out and rolled back when it fails",
  ),
  "print-config": flag("format", "", "print the configuration in effect with the origin of every value, and exit", {
    bare: "yaml",
  }),
  "check-config": flag("bool", "false", "check flags and configuration files, report everything wrong, and exit"),
  "feature-gates": mirror("boolMap", "", "featureGates", "features to turn on or off: Name=true,Other=false"),
  "root-dir": flag("string", "/var/lib/kubelet", "directory of the agent's state"),
  "lock-file": flag("string", "", "file locked while the agent runs; a second agent waits for it"),
  "exit-on-lock-contention": flag("bool", "false", "exit when another process opens --lock-file"),
  runonce: mirror("bool", "false", "runOnce", "start what the pod sources give, wait until it runs, then exit", {
    deprecated: "upstream has withdrawn this mode; there is no field that replaces it",
  }),
  "sync-frequency": mirror("duration", "1m0s", "syncFrequency", "longest time between two syncs of a pod"),
  "max-open-files": mirror("int64", "1000000", "maxOpenFiles", "limit of files the agent may have open"),
  "oom-score-adj": mirror("int32", "-999", "oomScoreAdj", "oom_score_adj of the agent itself, -1000 to 1000"),
  help: flag("bool", "false", "show this help and exit", { short: "h" }),
  version: flag(
    "version",
    "false",
    "print the version and exit; raw prints all that is known of it; v1.36.0-name is reported instead of the version",
    { bare: "true" },
  ),
};

export const API_SERVER: Flags = {
  kubeconfig: flag("string", "", "how to reach the API server; without it the agent runs static pods, stand-alone"),
  "bootstrap-kubeconfig": flag(
    "string",
    "",
    "used to ask for a client certificate while --kubeconfig is missing or does not work",
  ),
  "cert-dir": flag(
    "string",
    "/var/lib/kubelet/pki",
    "directory of the agent's certificates; not used when --tls-cert-file and --tls-private-key-file are given",
  ),
  "rotate-certificates": mirror(
    "bool",
    "false",
    "rotateCertificates",
    "renew the client certificate before it runs out",
  ),
  "rotate-server-certificates": mirror(
    "bool",
    "false",
    "serverTLSBootstrap",
    "ask the API server for the serving certificate and renew it",
  ),
  "kube-api-qps": mirror("int32", "50", "kubeAPIQPS", "requests to the API server per second"),
  "kube-api-burst": mirror("int32", "100", "kubeAPIBurst", "requests to the API server at once, above the rate"),
  "kube-api-content-type": mirror(
    "string",
    "application/vnd.kubernetes.protobuf",
    "contentType",
    "media type of requests to the API server",
  ),
  "event-qps": mirror("int32", "50", "eventRecordQPS", "events recorded per second; 0: no limit"),
  "event-burst": mirror("int32", "100", "eventBurst", "events recorded at once, above the rate"),
};

export const LOGS: Flags = {
  v: equalOf("level", "0", "logging.verbosity", "how much is logged; more with a higher number", { short: "v" }),
  vmodule: equalOf("vmodule", "", "logging.vmodule", "levels by source file: pattern=N,…; text format only"),
  "logging-format": mirror("string", "text", "logging.format", "text or json"),
  "log-flush-frequency": equalOf("duration", "5s", "logging.flushFrequency", "longest time a log line is held back"),
  "log-text-split-stream": mirror(
    "bool",
    "false",
    "logging.options.text.splitStream",
    "text format: errors to stderr, the rest to stdout",
  ),
  "log-text-info-buffer-size": mirror(
    "quantity",
    "0",
    "logging.options.text.infoBufferSize",
    "text format with split streams: buffer of stdout; 0: none",
  ),
  "log-json-split-stream": mirror(
    "bool",
    "false",
    "logging.options.json.splitStream",
    "JSON format: errors to stderr, the rest to stdout",
  ),
  "log-json-info-buffer-size": mirror(
    "quantity",
    "0",
    "logging.options.json.infoBufferSize",
    "JSON format with split streams: buffer of stdout; 0: none",
  ),
};
