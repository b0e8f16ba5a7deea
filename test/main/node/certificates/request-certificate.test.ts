// The signed certificate that an API server answers with, which is not trusted to be small.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CertificateRequestError,
  LONGEST_CERTIFICATE,
  requestCertificate,
} from "../../../../src/main/node/certificates/request-certificate.js";
import type { ApiClient } from "../../../../src/shared/kubernetes/api/client/port.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

function answering(certificate: string): Promise<string> {
  const conditions = [{ type: "Approved", status: "True" }];
  const client = {
    create: () => Promise.resolve({ metadata: { name: "csr-1" } }),
    get: () => Promise.resolve({ metadata: { name: "csr-1" }, status: { conditions, certificate } }),
  } as unknown as ApiClient;
  const wanted = { request: "PEM", signerName: "s", usages: [] };
  return requestCertificate(wanted, { client, clock: new SteppedClock(), signal: new AbortController().signal });
}

test("a certificate of an ordinary size is taken as it is", async () => {
  assert.equal(await answering(Buffer.from("a chain").toString("base64")), "a chain");
});

test("a certificate of megabytes is refused, and the error repeats nothing of it", async () => {
  await assert.rejects(
    answering("A".repeat(LONGEST_CERTIFICATE + 1)),
    (error) => error instanceof CertificateRequestError && error.message.length < 200,
  );
});
