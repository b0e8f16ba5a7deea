// Why a plugin is not registered. The message goes to the plugin and to the log.

/** The plugin said something of itself that cannot be. */
export class PluginRefusedError extends Error {
  override readonly name = "PluginRefusedError";
}
export const isPluginRefused = (error: unknown): error is PluginRefusedError => error instanceof PluginRefusedError;
