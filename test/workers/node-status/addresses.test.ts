// The node's addresses: --node-ip, the host name, interfaces, and a cloud provider.

import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { OperatorError } from "../../../src/shared/base/errors/operator-error.js";
import type { NodeAddress } from "../../../src/shared/kubernetes/api/node.js";
import { nodeAddresses, type AddressRules, type HostNetwork } from "../../../src/workers/node-status/addresses.js";
import { NETWORK } from "./node-status-kit.js";

const OLD: NodeAddress[] = [{ type: "ExternalIP", address: "203.0.113.9" }];

const rows: [string, Partial<AddressRules>, Partial<HostNetwork>, NodeAddress[], string[]][] = [
  ["the default route's interface", {}, {}, [], ["InternalIP 10.0.0.5", "Hostname n1"]],
  ["what is there is replaced", {}, {}, OLD, ["InternalIP 10.0.0.5", "Hostname n1"]],
  ["the other family by default", { nodeIPs: ["::"] }, {}, [], ["InternalIP fd00::5", "Hostname n1"]],
  ["the first family by default", { nodeIPs: ["0.0.0.0"] }, {}, [], ["InternalIP 10.0.0.5", "Hostname n1"]],
  ["one address", { nodeIPs: ["192.168.7.5"] }, {}, [], ["InternalIP 192.168.7.5", "Hostname n1"]],
  [
    "one of each family",
    { nodeIPs: ["10.0.0.5", "fd00:0::5"] },
    {},
    [],
    ["InternalIP 10.0.0.5", "InternalIP fd00:0::5", "Hostname n1"],
  ],
  ["a host name that is an address", { hostname: "10.9.9.9" }, {}, [], ["InternalIP 10.9.9.9", "Hostname 10.9.9.9"]],
  ["what the name resolves to", {}, { resolved: ["192.168.7.5"] }, [], ["InternalIP 192.168.7.5", "Hostname n1"]],
  [
    "the preferred family of it",
    {},
    { resolved: ["fd00::5", "192.168.7.5"] },
    [],
    ["InternalIP 192.168.7.5", "Hostname n1"],
  ],
  ["the other family of it", {}, { resolved: ["fd00::5"] }, [], ["InternalIP fd00::5", "Hostname n1"]],
  [
    "no unspecified or loopback address",
    {},
    { resolved: ["127.0.1.1", "8.8.8.8"] },
    [],
    ["InternalIP 10.0.0.5", "Hostname n1"],
  ],
  ["a cloud provider that has not spoken", { externalCloudProvider: true }, {}, [], ["Hostname n1"]],
  ["a cloud provider's own", { externalCloudProvider: true }, {}, OLD, ["ExternalIP 203.0.113.9"]],
  [
    "a cloud provider and an address given",
    { externalCloudProvider: true, nodeIPs: ["10.0.0.5"] },
    {},
    [],
    ["InternalIP 10.0.0.5", "Hostname n1"],
  ],
];
for (const [what, rules, network, existing, expected] of rows) {
  test(what, () => {
    const found = nodeAddresses(
      { hostname: "n1", nodeIPs: [], externalCloudProvider: false, ...rules },
      { ...NETWORK, ...network },
      existing,
    );
    deepEqual(
      found.map(({ type, address }) => `${type} ${address}`),
      expected,
    );
  });
}

for (const ip of ["10.0.0.99", "127.0.0.1", "169.254.1.1", "224.0.0.1", "fe80::1"]) {
  test(`--node-ip ${ip} is refused`, () => {
    throws(
      () => nodeAddresses({ hostname: "n1", nodeIPs: [ip], externalCloudProvider: false }, NETWORK, []),
      OperatorError,
    );
  });
}
