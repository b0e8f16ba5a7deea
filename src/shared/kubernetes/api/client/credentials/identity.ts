// The credentials of connections and calls. A new identity is a new object, so that the holder of an old one notices.

import type { SecureContext } from "node:tls";
import type { Logger } from "../../../../telemetry/log/logger.js";

export type ClientLog = Pick<Logger, "info" | "warn" | "error">;

export interface TlsMaterial {
  /** PEM; undefined: the certificates that Node trusts. */
  ca: string | undefined;
  cert: string | undefined;
  key: string | undefined;
}

export interface TlsIdentity extends TlsMaterial {
  context: SecureContext;
}
