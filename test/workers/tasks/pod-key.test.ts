// Keys of pods: each type, and a request that is empty but for the key and signed with it.

import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { test } from "node:test";
import { makePodKey } from "../../../src/workers/tasks/certificates/pod-keys.js";
import { readSigningRequestDer } from "../../fake-api/certificates/signing-request.js";

// One RSA key only, and the shorter: they take their time.
const ROWS: [type: string, kind: string, detail: Record<string, unknown>][] = [
  ["ED25519", "ed25519", {}],
  ["ECDSAP256", "ec", { namedCurve: "prime256v1" }],
  ["ECDSAP384", "ec", { namedCurve: "secp384r1" }],
  ["ECDSAP521", "ec", { namedCurve: "secp521r1" }],
  ["RSA3072", "rsa", { modulusLength: 3072, publicExponent: 65537n }],
];

for (const [keyType, kind, detail] of ROWS) {
  test(`${keyType}: PKCS 8, and a request that holds its public key alone`, async () => {
    const made = await makePodKey({ keyType });
    assert.ok(made !== undefined);
    assert.match(made.key, /^-----BEGIN PRIVATE KEY-----\n[\s\S]+\n-----END PRIVATE KEY-----\n$/);
    const key = createPrivateKey(made.key);
    assert.deepEqual([key.asymmetricKeyType, key.asymmetricKeyDetails], [kind, detail]);
    const der = Buffer.from(made.request, "base64");
    const request = readSigningRequestDer(der);
    assert.deepEqual(request.publicKey, createPublicKey(key).export({ type: "spki", format: "der" }));
    assert.deepEqual([request.commonName, request.organizations, request.altNames], ["", [], undefined]);
    const forged = Buffer.from(der);
    forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1;
    assert.throws(() => readSigningRequestDer(forged), /not signed with its key/);
  });
}

test("an unknown key type has no key", async () => {
  for (const keyType of ["", "RSA1024", "toString"]) assert.equal(await makePodKey({ keyType }), undefined);
});
