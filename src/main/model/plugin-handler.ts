// The handler of a node plugin registration, by plugin type.

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
