// The certificate authorities that this machine trusts, for a kubeconfig that names none. Node's own list lacks the CAs
// that an operator installed; Go reads the system's bundle. https://pkg.go.dev/crypto/x509#SystemCertPool

import { CredentialError } from "./errors.js";
import { SourceText } from "./source-text.js";

/** Paths of the CA bundle on distributions: Debian, Fedora and RHEL 6, openSUSE, OpenELEC, RHEL 7, Alpine. */
const BUNDLES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/pki/tls/cacert.pem",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

export class SystemRoots {
  private readonly sources: readonly SourceText[];

  /** @param environment SSL_CERT_FILE replaces the system's bundle. */
  constructor(environment: NodeJS.ProcessEnv = process.env) {
    const chosen = environment["SSL_CERT_FILE"];
    const files = chosen === undefined || chosen === "" ? BUNDLES : [chosen];
    this.sources = files.map((file) => new SourceText({ file }, "bundle of certificate authorities"));
  }

  /** PEM of the first bundle that can be read; undefined when there is none: Node's own list counts. */
  async read(): Promise<string | undefined> {
    for (const source of this.sources) {
      try {
        return await source.read();
      } catch (error) {
        if (!(error instanceof CredentialError)) throw error;
      }
    }
    return undefined;
  }
}
