// Subject of the serving certificate, by the addresses of the node.

import assert from "node:assert/strict";
import { test } from "node:test";
import { servingSubject } from "../../../../src/main/node/certificates/rotation.js";
import type { NodeAddress } from "../../../../src/shared/kubernetes/api/node.js";

const HOST: NodeAddress = { type: "Hostname", address: "n1" };
const IP: NodeAddress = { type: "InternalIP", address: "10.0.0.1" };

test("a serving certificate is for all names and addresses of the node, and for at least one address", () => {
  const rows: [NodeAddress[], boolean, { dnsNames: string[]; ips: string[] } | undefined][] = [
    [[], true, undefined],
    [[HOST], false, undefined],
    [[HOST], true, { dnsNames: ["n1"], ips: [] }],
    [[HOST, IP], false, { dnsNames: ["n1"], ips: ["10.0.0.1"] }],
    [
      [HOST, { type: "InternalDNS", address: "n1" }, IP, { type: "ExternalIP", address: "1.2.3.4" }],
      false,
      { dnsNames: ["n1"], ips: ["1.2.3.4", "10.0.0.1"] },
    ],
  ];
  for (const [addresses, dnsOnly, names] of rows) {
    const expected =
      names === undefined ? undefined : { commonName: "system:node:n1", organizations: ["system:nodes"], ...names };
    assert.deepEqual(servingSubject("n1", addresses, dnsOnly), expected);
  }
});
