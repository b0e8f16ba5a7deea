// The certificates of connections: CA, client certificate and key, as files or data, or from a plugin.
// Invariant: material that does not fit together (a rotation half done) never replaces material that does.
import { createSecureContext } from "node:tls";
import type { Clock } from "../../../clock/clock.js";
import type { ClientConfig } from "../config.js";
import { CredentialError } from "./errors.js";
import type { ClientLog, TlsIdentity, TlsMaterial } from "./identity.js";
import { RenewedPair } from "./renewed-pair.js";
import { SourceText } from "./source-text.js";
import { SystemRoots } from "./system-roots.js";
import { messageOf } from "../../../errors/thrown.js";

/** A client certificate and its key, PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

export class TlsIdentities {
  /** Undefined: the server is not verified. */
  private readonly ca: SourceText | SystemRoots | undefined;
  private readonly cert: SourceText | undefined;
  private readonly key: SourceText | undefined;
  private readonly renewed: RenewedPair | undefined;
  private identity: TlsIdentity | undefined;
  private complaint = "";

  constructor(
    config: ClientConfig,
    clock: Pick<Clock, "now">,
    private readonly log: ClientLog,
  ) {
    const { certificateAuthority, clientCertificate, renewedCertificate } = config;
    if (renewedCertificate !== undefined) this.renewed = new RenewedPair(renewedCertificate, clock);
    if (certificateAuthority !== undefined) this.ca = new SourceText(certificateAuthority, "certificate authority");
    else if (config.insecureSkipTlsVerify !== true) this.ca = new SystemRoots();
    if (clientCertificate !== undefined) {
      this.cert = new SourceText(clientCertificate.certificate, "client certificate");
      this.key = new SourceText(clientCertificate.key, "client key");
    }
  }

  /** The last one while nothing changed. Rejects with CredentialError only while there has been none. */
  async current(ofPlugin: KeyPair | undefined): Promise<TlsIdentity> {
    try {
      const renewed = await this.renewed?.read();
      const material: TlsMaterial = {
        ca: await this.ca?.read(),
        cert: renewed ?? ofPlugin?.cert ?? (await this.cert?.read()),
        key: renewed ?? ofPlugin?.key ?? (await this.key?.read()),
      };
      const last = this.identity;
      if (last !== undefined && isSame(last, material)) return last;
      this.identity = { ...material, context: contextOf(material) };
      this.complaint = "";
      return this.identity;
    } catch (error) {
      if (this.identity === undefined || !(error instanceof CredentialError)) throw error;
      if (this.complaint !== error.message) {
        this.complaint = error.message;
        this.log.warn({ err: error }, "Cannot use the new client credentials; using the previous ones");
      }
      return this.identity;
    }
  }
}

function isSame(one: TlsMaterial, other: TlsMaterial): boolean {
  return one.ca === other.ca && one.cert === other.cert && one.key === other.key;
}

function contextOf({ ca, cert, key }: TlsMaterial) {
  try {
    return createSecureContext({
      minVersion: "TLSv1.2",
      // An intermediate CA may be the trust anchor, as in Go: its own issuer need not be known.
      allowPartialTrustChain: true,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    });
  } catch (error) {
    const why = messageOf(error);
    throw new CredentialError(`client certificate, key or certificate authority are not usable together: ${why}`, {
      cause: error,
    });
  }
}
