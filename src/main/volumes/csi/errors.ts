// Errors of CSI volumes other than the driver's own (PluginCallError).

/** No driver of that name has registered; it may yet. */
export class CsiDriverMissingError extends Error {
  override readonly name = "CsiDriverMissingError";
  constructor(readonly driver: string) {
    super(
      `driver name ${driver} not found in the list of registered CSI drivers; its node plugin must run on this node ` +
        "and register below plugins_registry",
    );
  }
}

/** A volume is not, or not yet, attached to this node. */
export class NotAttachedError extends Error {
  override readonly name = "NotAttachedError";
}

/** The node holds as many volumes of the driver as it can. */
export class AttachLimitError extends Error {
  override readonly name = "AttachLimitError";
}

/** The mounts of a driver contradict its response, or the record on disk cannot be read. */
export class CsiStateError extends Error {
  override readonly name = "CsiStateError";
}

/** Objects of the API do not fit together: a mode the driver lacks, a secret that is missing. */
export class CsiSpecError extends Error {
  override readonly name = "CsiSpecError";
}
