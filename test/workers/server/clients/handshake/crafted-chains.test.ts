// Certificate chains of clients over real TLS: OpenSSL verifies only those whose cost is bounded.
// @promise Hostile tenants and clients: A client's certificate chain is verified only if its cost is bounded: 5
//   certificates, 16 KiB, sizes of keys. Unauthorised clients use at most half of the server thread, and one connection
//   250 ms, or 2 s before the first authorised one of all (docs/adr/0074).
// @with test/workers/server/clients/client-gate.test.ts, test/workers/server/clients/processor-turns.test.ts,
//   test/hostile/unauthorised-client.test.ts

import { doesNotMatch, equal, match } from "node:assert/strict";
import type { Socket } from "node:net";
import { after, afterEach, before, describe, test } from "node:test";
import { connect, type SecureVersion } from "node:tls";
import {
  craftedChain,
  curveKey,
  element,
  rsaKey,
  sequence,
  unnamedCurveKey,
  type CraftedChain,
} from "../../../../support/crafted-chains.js";
import { certificateBody, connectRawTls, recordsOf } from "../../../../support/raw-tls-client.js";
import type { Pair } from "../../../../support/test-ca.js";
import { Certificates, SecurePort } from "../../ports/secure-port-kit.js";

const CERTIFICATE = 11;
const VERSIONS: readonly SecureVersion[] = ["TLSv1.2", "TLSv1.3"];

let certificates: Certificates;
let admin: Pair;
let server: SecurePort;
before(async () => {
  certificates = await Certificates.create();
  admin = await certificates.ca.issue("admin", { subject: "/CN=admin" });
});
after(() => certificates.remove());
afterEach(() => server.close());

async function open(): Promise<void> {
  server = await new SecurePort(certificates).open({
    init: {
      authentication: {
        anonymous: false,
        clientCAFile: certificates.ca.pair.certFile,
        webhook: false,
        cacheTTLMs: 120_000,
      },
    },
    // Each test opens a few connections; their number is not its subject.
    limits: { handshakeBurst: 10_000 },
  });
}

/** The response to a request with these certificates; "closed" when there is none. */
async function outcome({ cert, key }: { cert: string; key: string }, version: SecureVersion): Promise<string> {
  const ca = certificates.ca.pair.cert;
  const versions = { minVersion: version, maxVersion: version };
  const socket = connect({ host: "127.0.0.1", port: server.port, ca, cert, key, ...versions });
  socket.on("error", () => undefined);
  socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  let text = "";
  socket.setEncoding("latin1").on("data", (part: string) => (text += part));
  await closed(socket);
  return text === "" ? "closed" : (text.split("\r\n")[0] ?? "");
}

const reasons = (): string => server.lines.map(({ line }) => line).join("\n");

/** Resolves, also if the connection is reset. */
function closed(socket: Socket): Promise<void> {
  socket.resume();
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once("close", () => resolve())));
}

const REFUSED: [name: string, chain: () => CraftedChain, why: RegExp][] = [
  ["72 certificates with 3072-bit exponents", () => craftedChain(72, rsaKey(3072, 3072)), /a message of \d+ bytes/],
  ["22 keys of 16384 bits", () => craftedChain(22, rsaKey(16_384, 64)), /a message of \d+ bytes/],
  ["one key with a 3072-bit exponent", () => craftedChain(1, rsaKey(3072, 3072)), /exponent has 3072 bits/],
  ["one key with a 32-bit exponent", () => craftedChain(1, rsaKey(2048, 32)), /exponent has 32 bits/],
  ["one key of 16384 bits", () => craftedChain(1, rsaKey(16_384, 17)), /RSA key has 16384 bits/],
  ["one key of 8200 bits", () => craftedChain(1, rsaKey(8200, 17)), /RSA key has 8200 bits/],
  ["five CA certificates", () => craftedChain(5, rsaKey(2048, 17)), /it has 6 certificates/],
  ["a curve of characteristic two", () => craftedChain(1, curveKey("sect571r1", 71)), /curve is not supported/],
  ["a Brainpool curve", () => craftedChain(1, curveKey("brainpoolP512r1", 64)), /curve is not supported/],
];

describe("a crafted chain is refused before it is verified:", () => {
  for (const version of VERSIONS) {
    for (const [name, chain, why] of REFUSED) {
      test(`${name}, ${version}`, async () => {
        await open();
        equal(await outcome(chain(), version), "closed");
        match(reasons(), why);
        equal(await outcome(admin, version), "HTTP/1.1 200 OK");
      });
    }
  }
});

const VERIFIED: [name: string, chain: () => CraftedChain][] = [
  ["four CA certificates of 2048 bits", () => craftedChain(4, rsaKey(2048, 17))],
  ["one key of 8192 bits with a 31-bit exponent", () => craftedChain(1, rsaKey(8192, 31))],
  ["four CA certificates on P-521", () => craftedChain(4, curveKey("P-521", 66))],
];

describe("OpenSSL decides about a chain within the limits:", () => {
  for (const version of VERSIONS) {
    for (const [name, chain] of VERIFIED) {
      test(`${name}, ${version}`, async () => {
        await open();
        // OpenSSL ends the handshake at some wrong signatures, and reports others.
        match(await outcome(chain(), version), /^(closed|HTTP\/1.1 401 Unauthorized)$/);
        doesNotMatch(reasons(), /chain is refused/);
      });
    }
  }
});

describe("a Certificate message that cannot be read is refused before it is verified:", () => {
  const valid = craftedChain(1, rsaKey(2048, 17)).certificates;
  const [first = Buffer.alloc(0)] = valid;
  const BODIES: [name: string, body: () => Buffer][] = [
    ["random bytes as a certificate", () => certificateBody([Buffer.from("no certificate at all")])],
    ["a certificate without its end", () => certificateBody([first.subarray(0, 100)])],
    ["bytes behind a certificate", () => certificateBody([Buffer.concat([first, Buffer.from([5, 0])])])],
    ["a certificate of indefinite length", () => certificateBody([Buffer.concat([Buffer.from([0x30, 0x80]), first])])],
    ["a sequence of nothing", () => certificateBody([sequence(sequence())])],
    ["a list that is longer than the message", () => certificateBody(valid).subarray(0, 500)],
    ["a curve that is written out", () => certificateBody(craftedChain(1, unnamedCurveKey()).certificates)],
    ["an unknown kind of key", () => certificateBody([sequence(element(0x30, first.subarray(8, 60)))])],
  ];
  for (const [name, body] of BODIES) {
    test(name, async () => {
      await open();
      const socket = await connectRawTls(server.port);
      for (const record of recordsOf(CERTIFICATE, body())) socket.write(record);
      await closed(socket);
      match(reasons(), /its certificate chain/);
      equal(await outcome(admin, "TLSv1.3"), "HTTP/1.1 200 OK");
    });
  }

  test("a chain in small records is refused, too", async () => {
    await open();
    const socket = await connectRawTls(server.port);
    const body = certificateBody(craftedChain(2, rsaKey(3072, 3072)).certificates);
    for (const record of recordsOf(CERTIFICATE, body, 100)) socket.write(record);
    await closed(socket);
    match(reasons(), /exponent has 3072 bits/);
  });

  test("a handshake of hundreds of records is refused", async () => {
    await open();
    const socket = await connectRawTls(server.port);
    for (const record of recordsOf(CERTIFICATE, certificateBody(valid), 1)) socket.write(record);
    await closed(socket);
    match(reasons(), /more than 65536 bytes or 128 records/);
  });
});

test("bytes that are no TLS end their connection", async () => {
  await open();
  const socket = await connectRawTls(server.port);
  socket.write("GET / HTTP/1.1\r\n\r\n");
  await closed(socket);
  match(reasons(), /does not send TLS/);
});

test("a chain of five certificates that leads to a CA of the node is accepted", async () => {
  await open();
  let ca = certificates.ca;
  const chain: string[] = [];
  for (const name of ["one", "two", "three"]) {
    ca = await ca.intermediate(name);
    chain.unshift(ca.pair.cert);
  }
  const pair = await ca.issue("deep", { subject: "/CN=deep" });
  const cert = [pair.cert, ...chain, certificates.ca.pair.cert].join("");
  for (const version of VERSIONS) equal(await outcome({ cert, key: pair.key }, version), "HTTP/1.1 200 OK");
  doesNotMatch(reasons(), /chain/);
});
