// The certificates of connections: CA, client certificate and key, as files or data, or from a plugin.
// Invariant: material that does not fit together (a rotation half done) never replaces material that does.

import { X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContext } from "node:tls";
import type { Clock } from "../../../../base/clock/clock.js";
import { messageOf } from "../../../../base/errors/thrown.js";
import { verifyingClientTls } from "../../../../io/net/untrusted-server-tls.js";
import type { CaReload } from "../../../../telemetry/metrics/transport.js";
import type { ClientConfig } from "../config.js";
import { CredentialError } from "./errors.js";
import type { ClientLog, TlsIdentity, TlsMaterial } from "./identity.js";
import { RenewedPair } from "./renewed-pair.js";
import { SourceText } from "./source-text.js";
import { SystemRoots } from "./system-roots.js";

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
  private readonly onCaChecked: ((check: CaReload) => void) | undefined;

  /** `onCaChecked`: the file of the certificate authority was read again; not called without such a file. */
  constructor(
    config: ClientConfig,
    clock: Pick<Clock, "now">,
    private readonly log: ClientLog,
    onCaChecked?: (check: CaReload) => void,
  ) {
    const { certificateAuthority, clientCertificate, renewedCertificate } = config;
    if (certificateAuthority !== undefined && "file" in certificateAuthority) this.onCaChecked = onCaChecked;
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
        ca: await this.readCa(),
        cert: renewed ?? ofPlugin?.cert ?? (await this.cert?.read()),
        key: renewed ?? ofPlugin?.key ?? (await this.key?.read()),
      };
      const last = this.identity;
      if (last !== undefined && isSame(last, material)) return last;
      this.identity = { ...material, context: this.contextOf(material) };
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

  /** A file that became empty is a rotation half done: the authority read before counts. */
  private async readCa(): Promise<string | undefined> {
    const { identity: last } = this;
    try {
      const text = await this.ca?.read();
      if (last === undefined || this.onCaChecked === undefined) return text;
      if (text?.trim() === "") {
        this.onCaChecked({ result: "failure", reason: "empty" });
        return last.ca;
      }
      if (text === last.ca) this.onCaChecked({ result: "success", reason: "unchanged" });
      return text;
    } catch (error) {
      if (last !== undefined) this.onCaChecked?.({ result: "failure", reason: "read_error" });
      throw error;
    }
  }

  /** @throws CredentialError */
  private contextOf(material: TlsMaterial): SecureContext {
    const isNewCa = this.identity !== undefined && this.identity.ca !== material.ca;
    try {
      const context = contextOf(material);
      if (isNewCa) this.onCaChecked?.({ result: "success", reason: "updated" });
      return context;
    } catch (error) {
      if (isNewCa) this.onCaChecked?.({ result: "failure", reason: "ca_parse_error" });
      throw error;
    }
  }
}

function isSame(one: TlsMaterial, other: TlsMaterial): boolean {
  return one.ca === other.ca && one.cert === other.cert && one.key === other.key;
}

function contextOf({ ca, cert, key }: TlsMaterial): SecureContext {
  try {
    // createSecureContext ignores text in which it finds no certificate: nothing would be trusted.
    const trusted = ca === undefined ? undefined : new X509Certificate(ca).raw;
    return createSecureContext({
      ...verifyingClientTls(),
      minVersion: "TLSv1.2",
      // An intermediate CA may be the trust anchor, as in Go: its own issuer need not be known.
      allowPartialTrustChain: true,
      ca: trusted === undefined ? undefined : ca,
      cert,
      key,
    });
  } catch (error) {
    const why = messageOf(error);
    throw new CredentialError(`client certificate, key or certificate authority are not usable together: ${why}`, {
      cause: error,
    });
  }
}
