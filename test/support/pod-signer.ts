// A signer of pods' certificates, played by the test: what it says of a request, as its status.

import { X509Certificate } from "node:crypto";
import { systemClock, type Clock } from "../../src/shared/base/clock/clock.js";
import { textAt, timeText, type ApiObject, type Fields } from "../../src/workers/apiserver/objects/object.js";
import { Authority } from "../fake-api/certificates/authority.js";
import { readSigningRequestDer } from "../fake-api/certificates/signing-request.js";
import { pathOf, type ApiKit } from "./api-kit.js";

export const POD_REQUESTS = "podcertificaterequests";
const MINUTE_MS = 60_000;

/** Whether the server serves PodCertificateRequests, which are optional on a real one. */
export async function isPodSignerServed(api: ApiKit): Promise<boolean> {
  return (await api.raw("GET", pathOf(POD_REQUESTS, ""), { query: { limit: 1 } })).code === 200;
}

export class PodSigner {
  readonly authority: Authority;

  constructor(
    private readonly clock: Clock = systemClock,
    /** As `pathOf` has it; another one for an API server of 1.37. */
    private readonly requests = POD_REQUESTS,
  ) {
    this.authority = new Authority(clock, "pods");
  }

  /** A status that issues a certificate of two hours. */
  issued(request: Pick<ApiObject, "spec">): Fields {
    const der = Buffer.from(textAt(request.spec, "stubPKCS10Request") ?? "", "base64");
    const validity = { fromMs: -MINUTE_MS, lifeMs: 119 * MINUTE_MS };
    const leaf = this.authority.signRequest(readSigningRequestDer(der), ["client", "server"], validity);
    const { validFrom, validTo } = new X509Certificate(leaf);
    return {
      conditions: [this.word("Issued", "Signed", "")],
      certificateChain: `leaf:\n${leaf}issuer:\n${this.authority.ca}`,
      notBefore: timeText(Date.parse(validFrom)),
      beginRefreshAt: timeText(Date.parse(validFrom) + 60 * MINUTE_MS),
      notAfter: timeText(Date.parse(validTo)),
    };
  }

  refused(type: "Denied" | "Failed", reason: string, message: string): Fields {
    return { conditions: [this.word(type, reason, message)] };
  }

  /** Answers every request of a namespace that has no answer yet, until the signal aborts. */
  async serve(
    api: ApiKit,
    namespace: string,
    answer: (request: ApiObject) => Fields,
    signal: AbortSignal,
  ): Promise<void> {
    const query = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true };
    try {
      for await (const { type, object } of api.watch(this.requests, namespace, query, signal)) {
        if (type !== "ADDED" || object.status?.["conditions"] !== undefined) continue;
        await api.update(this.requests, { ...object, status: answer(object) }, "status");
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  private word(type: string, reason: string, message: string): Fields {
    return { type, status: "True", reason, message, lastTransitionTime: timeText(this.clock.now()) };
  }
}
