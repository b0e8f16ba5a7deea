// The settings of the kubelet: the flags and the configuration as plain values, joined from one view per subject (views/).
// Names are KubeletConfiguration's; durations are milliseconds and their names end in Ms.
import type { AgentFlags } from "./agent-flags.js";
import { flagValues, type CommandLine } from "./command-line.js";
import type { EffectiveConfig } from "./config/effective.js";
import type { ResolvedConfig } from "./config/resolve-config.js";
import { withoutEffect } from "./config/without-effect.js";
import { splitNodeIPs } from "./rules/flags.js";
import { KUBERNETES_VERSION } from "./version.js";
import { cgroupSettings, type CgroupSettings, resourceSettings, type ResourceSettings } from "./views/resources.js";
import {
  containerLogSettings,
  type ContainerLogSettings,
  loggingSettings,
  type LoggingSettings,
} from "./views/logging.js";
import { evictionSettings, type EvictionSettings } from "./views/eviction.js";
import { imageSettings, type ImageSettings } from "./views/images.js";
import {
  networkSettings,
  type NetworkSettings,
  nodeObjectSettings,
  type NodeObjectSettings,
  sourceSettings,
  type SourceSettings,
} from "./views/node.js";
import { ConfigReader } from "./views/reader.js";
import { runtimeSettings, type RuntimeSettings } from "./views/runtime.js";
import { serverSettings, type ServerSettings } from "./views/server.js";
import { tracingSettings, type TracingSettings } from "./views/tracing.js";

/** One view per subject; each is a pure function of the configuration. */
export interface ConfigViews
  extends
    SourceSettings,
    RuntimeSettings,
    ContainerLogSettings,
    ServerSettings,
    CgroupSettings,
    ResourceSettings,
    EvictionSettings,
    NetworkSettings,
    ImageSettings,
    NodeObjectSettings,
    LoggingSettings,
    TracingSettings {}

export interface Settings extends AgentFlags, ConfigViews {
  /** The whole configuration, every value with its origin. */
  readonly config: EffectiveConfig;
  /** In the order of merging: the file of --config, then drop-ins. */
  readonly configFiles: readonly string[];
  /** Every flag with its value, secrets masked, for the start-up log. */
  readonly flags: readonly { readonly name: string; readonly value: string }[];
  /** Reported to clients and the API server; --version=v… replaces it. */
  readonly kubernetesVersion: string;
  /** Lines for the start-up log: deprecated flags and fields, and settings without an effect. */
  readonly notices: readonly string[];
  readonly nodeIPs: string[];
}

export function settingsOf(line: CommandLine, agent: AgentFlags, { config, files, notices }: ResolvedConfig): Settings {
  return {
    ...agent,
    ...viewsOf(config),
    config,
    configFiles: files,
    flags: flagValues(line),
    kubernetesVersion: line.reportedVersion ?? KUBERNETES_VERSION,
    notices: [...line.deprecations, ...notices, ...withoutEffect(config)],
    nodeIPs: splitNodeIPs(agent.nodeIP),
  };
}

function viewsOf(config: EffectiveConfig): ConfigViews {
  const read = new ConfigReader(config);
  return {
    ...sourceSettings(read),
    ...runtimeSettings(read),
    ...containerLogSettings(read),
    ...serverSettings(read),
    ...cgroupSettings(read),
    ...resourceSettings(read),
    ...evictionSettings(read),
    ...networkSettings(read),
    ...imageSettings(read),
    ...nodeObjectSettings(read),
    ...loggingSettings(read),
    ...tracingSettings(read),
  };
}
