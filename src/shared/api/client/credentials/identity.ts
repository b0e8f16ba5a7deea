// What connections are made with, and what calls carry. A new identity is a new object: who holds an old one sees that.
import type { SecureContext } from "node:tls";
import type { Logger } from "../../../log/logger.js";

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
