// OpenSSL (by Node) reads the pool's keys and certificates.

import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { describe, test } from "node:test";
import "reflect-metadata";
import { PemConverter, Pkcs10CertificateRequest } from "@peculiar/x509";
import {
  describeCertificate,
  makeCertificateRequest,
  makeSelfSigned,
} from "../../../src/workers/tasks/certificates/certificate-jobs.js";

const SUBJECT = {
  commonName: "system:node:n1",
  organizations: ["system:nodes"],
  dnsNames: ["n1"],
  ips: ["10.0.0.1", "fd00::1"],
};

describe("a self-signed certificate", () => {
  test("serves its names with its key for its time", async () => {
    const notBefore = Date.parse("2026-01-01T00:00:00Z");
    const notAfter = Date.parse("2027-01-01T00:00:00Z");
    const { certificate, key } = await makeSelfSigned({ subject: SUBJECT, notBefore, notAfter });
    assert.deepEqual(describeCertificate({ pem: certificate + key }), {
      notBefore,
      notAfter,
      commonName: "system:node:n1",
      organizations: ["system:nodes"],
      dnsNames: ["n1"],
      ips: ["10.0.0.1", "FD00:0:0:0:0:0:0:1"],
      hasKey: true,
    });
    assert.equal(describeCertificate({ pem: certificate })?.hasKey, false);
    const other = await makeSelfSigned({ subject: SUBJECT, notBefore, notAfter });
    assert.equal(
      describeCertificate({ pem: certificate + other.key })?.hasKey,
      false,
      "the key of another certificate",
    );
    const read = new X509Certificate(certificate);
    assert.ok(read.verify(read.publicKey));
    assert.equal(read.checkHost("n1"), "n1");
  });
});

describe("a certificate request", () => {
  test("is signed by its key, and made again with the same key has the same digest", async () => {
    const first = await makeCertificateRequest({ subject: SUBJECT });
    const again = await makeCertificateRequest({ subject: SUBJECT, key: first.key });
    assert.equal(again.key, first.key);
    assert.equal(again.keyDigest, first.keyDigest);
    const request = new Pkcs10CertificateRequest(PemConverter.decodeFirst(again.request));
    assert.ok(await request.verify());
    assert.equal(request.subject, "O=system:nodes, CN=system:node:n1");
  });

  test("of another key has another digest", async () => {
    const [one, other] = await Promise.all([
      makeCertificateRequest({ subject: SUBJECT }),
      makeCertificateRequest({ subject: SUBJECT }),
    ]);
    assert.notEqual(one.keyDigest, other.keyDigest);
  });
});

test("another text than a certificate is undefined", () => {
  assert.equal(
    describeCertificate({ pem: "-----BEGIN CERTIFICATE-----\nZm9v\n-----END CERTIFICATE-----\n" }),
    undefined,
  );
  assert.equal(describeCertificate({ pem: "" }), undefined);
});
