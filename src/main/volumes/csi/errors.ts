// Errors of CSI volumes other than the driver's own (PluginCallError).

/** The node holds as many volumes of the driver as it can. */
export class AttachLimitError extends Error {
  override readonly name = "AttachLimitError";
}
