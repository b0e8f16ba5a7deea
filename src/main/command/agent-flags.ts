// The flags that mirror no field of the configuration, with their defaults. Source of names and defaults:
// flags/table.ts.

import { DEFAULT_CONFIG_SOURCE } from "../../shared/kubernetes/api/allowed-config-sources.js";
import type { CriChannelKind } from "../../shared/kubernetes/cri/channel-kind.js";
import type { FlagValue } from "./config/flags-over-config.js";
import { readDockerFlags, type DockerFlags } from "./docker-flags.js";

/** Flags that print a result instead of running the kubelet. */
export interface Questions {
  readonly checkConfig: boolean;
  /** "": not given. */
  readonly printConfig: "" | "yaml" | "json";
}

export interface AgentFlags {
  readonly docker: DockerFlags;
  readonly kubeconfig: string;
  readonly bootstrapKubeconfig: string;
  /** Directory of client and serving certificates. */
  readonly certDir: string;
  readonly rootDir: string;
  readonly hostnameOverride: string;
  /** As given: one address, or two separated by a comma. */
  readonly nodeIP: string;
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly cloudProvider: string;
  readonly lockFile: string;
  readonly exitOnLockContention: boolean;
  readonly runOnce: boolean;
  readonly runtimeCgroups: string;
  readonly imageCredentialProviderConfig: string;
  readonly imageCredentialProviderBinDir: string;
  readonly minimumContainerTTLMs: number;
  /** Negative: no limit, as below. */
  readonly maximumDeadContainersPerContainer: number;
  readonly maximumDeadContainers: number;
  /** Hard eviction thresholds are not subtracted from the node's allocatable. */
  readonly allocatableIgnoresEviction: boolean;
  /** "": dynamic configuration is off. */
  readonly dynamicConfigDir: string;
  /** ConfigMaps that the Node may assign: "namespace/name", or "namespace/prefix*". */
  readonly dynamicConfigSources: readonly string[];
  /** "none": off; "": the default of the root directory. */
  readonly adminSocket: string;
  /** Name or number; "": none. */
  readonly adminSocketGroup: string;
  /** The status page on the authenticated port. */
  readonly statusPage: boolean;
  /** The status page on 127.0.0.1; 0: off. */
  readonly statusPagePort: number;
  readonly readOnlyPods: boolean;
  /** TCP port of the Kubernetes API of a node without a cluster; 0: off. */
  readonly apiServerPort: number;
  readonly apiServerAddress: string;
  /** socket: only on the admin socket; on: on the authenticated port, too. */
  readonly manifestApi: "off" | "socket" | "on";
  readonly criChannel: CriChannelKind;
}

const MANIFEST_API: Readonly<Record<string, AgentFlags["manifestApi"]>> = { true: "on", socket: "socket" };

export function readQuestions(given: ReadonlyMap<string, FlagValue>): Questions {
  return {
    checkConfig: valueOf(given, "check-config", false),
    printConfig: valueOf<Questions["printConfig"]>(given, "print-config", ""),
  };
}

export function readAgentFlags(given: ReadonlyMap<string, FlagValue>): AgentFlags {
  const flag = <T>(name: string, fallback: T): T => valueOf(given, name, fallback);
  const text = (name: string, fallback = ""): string => flag(name, fallback);
  return {
    docker: readDockerFlags(flag),
    kubeconfig: text("kubeconfig"),
    bootstrapKubeconfig: text("bootstrap-kubeconfig"),
    certDir: text("cert-dir", "/var/lib/kubelet/pki"),
    rootDir: text("root-dir", "/var/lib/kubelet"),
    hostnameOverride: text("hostname-override"),
    nodeIP: text("node-ip"),
    nodeLabels: flag("node-labels", {}),
    cloudProvider: text("cloud-provider"),
    lockFile: text("lock-file"),
    exitOnLockContention: flag("exit-on-lock-contention", false),
    runOnce: flag("runonce", false),
    runtimeCgroups: text("runtime-cgroups"),
    imageCredentialProviderConfig: text("image-credential-provider-config"),
    imageCredentialProviderBinDir: text("image-credential-provider-bin-dir"),
    minimumContainerTTLMs: flag("minimum-container-ttl-duration", 0),
    maximumDeadContainersPerContainer: flag("maximum-dead-containers-per-container", 1),
    maximumDeadContainers: flag("maximum-dead-containers", -1),
    allocatableIgnoresEviction: flag("experimental-allocatable-ignore-eviction", false),
    dynamicConfigDir: text("dynamic-config-dir"),
    dynamicConfigSources: readConfigSources(given),
    adminSocket: text("admin-socket"),
    adminSocketGroup: text("admin-socket-group"),
    statusPage: flag("status-page", false),
    statusPagePort: flag("status-page-port", 0),
    readOnlyPods: flag("read-only-pods", true),
    apiServerPort: flag("api-server-port", 0),
    apiServerAddress: text("api-server-address", "127.0.0.1"),
    manifestApi: MANIFEST_API[text("manifest-api", "false")] ?? "off",
    criChannel: text("cri-channel", "own") === "own" ? "own" : "grpc-js",
  };
}

export function readConfigSources(given: ReadonlyMap<string, FlagValue>): readonly string[] {
  return valueOf(given, "dynamic-config-sources", [DEFAULT_CONFIG_SOURCE]);
}

/** A flag's value has its fallback's type: the table of flags saw to that. */
function valueOf<T>(given: ReadonlyMap<string, FlagValue>, name: string, fallback: T): T {
  return (given.get(name)?.value ?? fallback) as T;
}
