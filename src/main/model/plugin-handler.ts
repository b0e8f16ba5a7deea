// The handler of a node plugin registration, by plugin type.
import { dnsSubdomain } from "../../shared/api/manifest/formats.js";

/** Types of plugins, as they name themselves. */
type PluginType = "CSIPlugin" | "DevicePlugin" | "DRAPlugin";

export interface PluginInfo {
  type: string;
  name: string;
  /** Socket that the plugin is called at; absolute. */
  endpoint: string;
  versions: readonly string[];
}

export interface PluginHandler {
  /** @throws an error whose message gives the plugin the reason of the rejection */
  validate(plugin: PluginInfo): void;
  /** Resolves when the plugin is in use. A failure is reported to the plugin and retried. */
  register(plugin: PluginInfo, signal: AbortSignal): Promise<void>;
  /** The plugin's socket was removed or replaced. This concerns only the plugin of that endpoint. */
  deregister(plugin: PluginInfo, signal: AbortSignal): Promise<void>;
}

/** By type of plugin. */
export type PluginHandlers = Readonly<Partial<Record<PluginType, PluginHandler>>>;

/** Calls of a plugin's registration socket. */
export interface RegistrationClient {
  /** @throws PluginCallError */
  getInfo(signal: AbortSignal): Promise<PluginInfo>;
  /** `error`: why it was not registered. @throws PluginCallError */
  notify(error: string | undefined, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Makes a client of the socket at `path`. */
export type DialRegistration = (path: string) => Promise<RegistrationClient>;

// The reason why a plugin is not registered. The message goes to the plugin and to the log.

/** Longest text of a plugin that an error repeats. */
const LONGEST_QUOTE = 200;
const LONGEST_NAME = 63;

/** The plugin reported data about itself that is invalid. */
export class PluginRefusedError extends Error {
  override readonly name = "PluginRefusedError";
}

/** Names of drivers are DNS names in the API, too; they become parts of paths and labels. @throws PluginRefusedError */
export function requireDriverName(kind: "CSI" | "DRA", name: string): void {
  if (name.length <= LONGEST_NAME && dnsSubdomain(name.toLowerCase()) === undefined) return;
  throw new PluginRefusedError(
    `the name "${name.slice(0, LONGEST_QUOTE)}" of a ${kind} driver is invalid: give a DNS name of at most ${LONGEST_NAME} characters`,
  );
}
