// The settings of the kubelet: the flags and the configuration as plain values, one view per subject (views/).
// Names are KubeletConfiguration's; durations are milliseconds and their names end in Ms.

import { isIP } from "node:net";
import type { AgentFlags } from "./agent-flags.js";
import { flagValues, type CommandLine, type FlagValue } from "./command-line.js";
import type { EffectiveConfig } from "./config/effective.js";
import type { ResolvedConfig } from "./config/resolve-config.js";
import { withoutEffect } from "./config/without-effect.js";
import { splitNodeIPs } from "./rules/flags.js";
import { KUBERNETES_VERSION } from "./version.js";
import { cgroupSettings } from "./views/cgroups.js";
import { containerLogSettings } from "./views/container-logs.js";
import { evictionSettings } from "./views/eviction.js";
import { imageSettings } from "./views/images.js";
import { loggingSettings } from "./views/logging.js";
import { networkSettings } from "./views/network.js";
import { nodeObjectSettings } from "./views/node.js";
import { ConfigReader } from "./views/reader.js";
import { resourceSettings } from "./views/resources.js";
import { runtimeSettings } from "./views/runtime.js";
import { serverSettings } from "./views/server.js";
import { sourceSettings } from "./views/sources.js";
import { tracingSettings } from "./views/tracing.js";

/** One view per subject; each is a pure function of the configuration. */
const viewsOf = (read: ConfigReader, { docker }: AgentFlags) => ({
  sources: sourceSettings(read),
  runtime: runtimeSettings(read, docker.mode !== "off"),
  containerLogs: containerLogSettings(read),
  server: serverSettings(read),
  cgroups: cgroupSettings(read),
  resources: resourceSettings(read),
  eviction: evictionSettings(read),
  network: networkSettings(read),
  images: imageSettings(read),
  node: nodeObjectSettings(read),
  logging: loggingSettings(read),
  tracing: tracingSettings(read),
});

type ConfigViews = Readonly<ReturnType<typeof viewsOf>>;

export interface Settings extends AgentFlags, ConfigViews {
  /** The whole configuration, every value with its origin. */
  readonly config: EffectiveConfig;
  /** In the order of merging: the file of --config, then drop-ins. */
  readonly configFiles: readonly string[];
  /** Every flag with its value. */
  readonly flags: readonly FlagValue[];
  /** Reported to clients and the API server; --version=v… replaces it. */
  readonly kubernetesVersion: string;
  /** Lines for the start-up log: deprecated flags and fields, and settings without an effect. */
  readonly notices: readonly string[];
  /** Problems that a start tolerates, a line each. */
  readonly warnings: readonly string[];
  readonly nodeIPs: string[];
}

export function settingsOf(
  line: CommandLine,
  agent: AgentFlags,
  { config, files, notices, tolerated }: ResolvedConfig,
): Settings {
  return {
    ...agent,
    ...viewsOf(new ConfigReader(config), agent),
    config,
    configFiles: files,
    flags: flagValues(line),
    kubernetesVersion: line.reportedVersion ?? KUBERNETES_VERSION,
    notices: [...line.deprecations, ...notices, ...withoutEffect(config)],
    warnings: tolerated,
    nodeIPs: splitNodeIPs(agent.nodeIP).filter((ip) => isIP(ip) !== 0),
  };
}
