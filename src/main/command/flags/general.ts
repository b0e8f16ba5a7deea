// Flags of the kubelet's start, of its configuration and of its way to the API server.

import { DEFAULT_CONFIG_SOURCE } from "../../../shared/kubernetes/api/allowed-config-sources.js";
import { equalOf, flag, mirror, type Flags } from "./flag.js";

export const START: Flags = {
  config: flag("string", "", "file with a KubeletConfiguration, YAML or JSON; command-line flags override it"),
  "config-dir": flag(
    "string",
    "",
    "directory of drop-in files (*.conf), merged over --config in the order of their names",
  ),
  "dynamic-config-dir": flag(
    "string",
    "",
    "directory for checkpoints of the configuration; the kubelet tries a changed configuration, of the files or of the ConfigMap that the Node assigns, and rolls it back if it fails",
  ),
  "dynamic-config-sources": flag(
    "configMaps",
    DEFAULT_CONFIG_SOURCE,
    "ConfigMaps that the Node may assign with --dynamic-config-dir, as namespace/name; a name may end with *; empty: none",
  ),
  "print-config": flag("format", "", "print the effective configuration with the origin of every value, and exit", {
    bare: "yaml",
  }),
  "check-config": flag("bool", "false", "validate flags and configuration files, report all errors, and exit"),
  "feature-gates": mirror("featureGates", "feature gates: Name=true,Other=false"),
  "root-dir": flag(
    "string",
    "/var/lib/kubelet",
    "directory of the kubelet's state (volume mounts, checkpoints, and others)",
  ),
  "lock-file": flag("string", "", "lock file of the kubelet; a second kubelet waits for it"),
  "exit-on-lock-contention": flag("bool", "false", "exit when another process contends for --lock-file"),
  runonce: mirror("runOnce", "run the pods of the static pod sources, wait until they are running, then exit", {
    deprecated: "upstream has removed this mode; no field replaces it",
  }),
  "sync-frequency": mirror("syncFrequency", "maximum period between two syncs of a pod"),
  "max-open-files": mirror("maxOpenFiles", "maximum number of files that the kubelet can open"),
  "oom-score-adj": mirror("oomScoreAdj", "oom_score_adj of the kubelet process, -1000 to 1000"),
  help: flag("bool", "false", "show this help and exit", { short: "h" }),
  version: flag(
    "version",
    "false",
    "print the version and exit; raw prints all version information; v1.36.0-name sets the reported version",
    { bare: "true" },
  ),
};

export const API_SERVER: Flags = {
  kubeconfig: flag(
    "string",
    "",
    "kubeconfig file for the API server; without it the kubelet runs stand-alone, with static pods only",
  ),
  "bootstrap-kubeconfig": flag(
    "string",
    "",
    "kubeconfig file for the request of a client certificate while the file of --kubeconfig is missing or invalid",
  ),
  "cert-dir": flag(
    "string",
    "/var/lib/kubelet/pki",
    "directory of the TLS certificates; ignored if --tls-cert-file and --tls-private-key-file are set",
  ),
  "rotate-certificates": mirror(
    "rotateCertificates",
    "request a new client certificate from the API server before the current one expires",
  ),
  "rotate-server-certificates": mirror(
    "serverTLSBootstrap",
    "request the serving certificate from the API server, and rotate it",
  ),
  "kube-api-qps": mirror("kubeAPIQPS", "maximum queries per second to the API server"),
  "kube-api-burst": mirror("kubeAPIBurst", "burst of queries to the API server above the rate"),
  "kube-api-content-type": mirror("contentType", "content type of requests to the API server"),
  "event-qps": mirror("eventRecordQPS", "maximum event creations per second; 0: no limit"),
  "event-burst": mirror("eventBurst", "burst of event records above the rate"),
};

export const LOGS: Flags = {
  v: equalOf("logging.verbosity", "log verbosity level", { kind: "level", short: "v" }),
  vmodule: equalOf("logging.vmodule", "verbosity by module: pattern=N,…; only for the text format"),
  "logging-format": mirror("logging.format", "text or json"),
  "log-flush-frequency": equalOf("logging.flushFrequency", "maximum time between log flushes", { kind: "duration" }),
  "log-text-split-stream": mirror(
    "logging.options.text.splitStream",
    "text format: write errors to stderr and info messages to stdout",
  ),
  "log-text-info-buffer-size": mirror(
    "logging.options.text.infoBufferSize",
    "text format with split streams: size of the stdout buffer; 0: no buffer",
  ),
  "log-json-split-stream": mirror(
    "logging.options.json.splitStream",
    "JSON format: write errors to stderr and info messages to stdout",
  ),
  "log-json-info-buffer-size": mirror(
    "logging.options.json.infoBufferSize",
    "JSON format with split streams: size of the stdout buffer; 0: no buffer",
  ),
};
