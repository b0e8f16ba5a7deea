// Certificates that OpenSSL (by Node) reads and believes.

import assert from "node:assert/strict";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { it } from "node:test";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { Authority } from "./authority.js";
import { makeSigningRequest, readSigningRequest } from "./signing-request.js";

const authority = new Authority(systemClock);
const ca = new X509Certificate(authority.ca);

it("a client certificate names user and groups and is the authority's", () => {
  const before = Date.now();
  const pair = authority.clientCertificate("system:node:n", ["system:nodes", "more"], { lifeMs: 60_000 });
  const cert = new X509Certificate(pair.cert);
  assert.equal(cert.subject, "O=system:nodes\nO=more\nCN=system:node:n");
  assert.ok(cert.checkIssued(ca) && cert.verify(ca.publicKey));
  assert.ok(cert.checkPrivateKey(createPrivateKey(pair.key)));
  const made = Date.parse(cert.validTo) - 60_000;
  assert.ok(made > before - 5000 && made < Date.now() + 5000);
  assert.equal(cert.ca, false);
  assert.equal(ca.ca, true);
});

it("a serving certificate is for its names and addresses", () => {
  const cert = new X509Certificate(authority.servingCertificate(["127.0.0.1", "fd00::1", "node.example"]).cert);
  assert.equal(cert.checkIP("127.0.0.1"), "127.0.0.1");
  assert.equal(cert.checkIP("fd00::1"), "fd00::1");
  assert.equal(cert.checkHost("node.example"), "node.example");
  assert.equal(cert.checkHost("other.example"), undefined);
});

it("a request is read, signed for its key, and refused when it was changed", () => {
  const { request, key } = makeSigningRequest("system:node:n", ["system:nodes"], ["n", "10.0.0.1"]);
  const read = readSigningRequest(request);
  assert.deepEqual([read.commonName, read.organizations], ["system:node:n", ["system:nodes"]]);
  const cert = new X509Certificate(authority.signRequest(read, ["server"]));
  assert.ok(cert.checkPrivateKey(createPrivateKey(key)));
  assert.equal(cert.subjectAltName, "DNS:n, IP Address:10.0.0.1");
  const der = Buffer.from(request.replace(/-----[^-]+-----/g, ""), "base64");
  const at = der.indexOf("system:node:n");
  der.write("system:node:m", at);
  const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
  assert.throws(() => readSigningRequest(forged), /not signed with its key/);
  assert.throws(() => readSigningRequest("nonsense"), /PEM block type must be CERTIFICATE REQUEST/);
});
