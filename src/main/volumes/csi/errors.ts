// What can go wrong with CSI volumes before or beside the driver's own answers (PluginCallError).

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
export const isAttachLimit = (error: unknown): error is AttachLimitError => error instanceof AttachLimitError;

/** What a driver left behind contradicts what it answered, or notes on disk cannot be read. */
export class CsiStateError extends Error {
  override readonly name = "CsiStateError";
}

/** Objects of the API do not fit together: a mode the driver lacks, a secret that is missing. */
export class CsiSpecError extends Error {
  override readonly name = "CsiSpecError";
}
export const isCsiSpec = (error: unknown): error is CsiSpecError => error instanceof CsiSpecError;
