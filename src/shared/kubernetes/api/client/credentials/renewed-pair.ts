// The client certificate that was renewed since the kubeconfig was written, and its key, in one file. It takes the
// place of the kubeconfig's own as long as it is good; this is the one place where that is decided, for every thread
// and reload.

import { X509Certificate, createPrivateKey } from "crypto";
import type { Clock } from "../../../../base/clock/clock.js";
import { SourceText } from "./source-text.js";

export class RenewedPair {
  private readonly source: SourceText;
  private seen = "";
  /** Milliseconds since the epoch; 0: the file is no good. */
  private notAfter = 0;

  constructor(
    file: string,
    private readonly clock: Pick<Clock, "now">,
  ) {
    this.source = new SourceText({ file }, "renewed client certificate");
  }

  /** PEM of both; undefined: there is none yet, or none that is good: the kubeconfig's counts. */
  async read(): Promise<string | undefined> {
    const pem = await this.source.read().catch(() => "");
    if (pem !== this.seen) {
      this.seen = pem;
      this.notAfter = pem.includes("PRIVATE KEY-----") ? endOf(pem) : 0;
    }
    return this.notAfter > this.clock.now() ? pem : undefined;
  }
}

function endOf(pem: string): number {
  try {
    const certificate = new X509Certificate(pem);
    // A key of another certificate would fail every connection while the kubeconfig's own pair may be good.
    if (!certificate.checkPrivateKey(createPrivateKey(pem))) return 0;
    return Date.parse(certificate.validTo) || 0;
  } catch {
    return 0;
  }
}
