// The choice of the pods' addresses: nothing that the node reaches is hidden.

import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { readFibTrie } from "../../../src/cli/network/fib-trie.js";
import { networkText, overlaps, readNetwork, type Network } from "../../../src/cli/network/ipv4.js";
import { choosePodRange } from "../../../src/cli/network/pod-range.js";

const networks = (...texts: string[]): Network[] =>
  texts.map((text) => readNetwork(text)).filter((one) => one !== undefined);

describe("the range of pods", () => {
  const rows: readonly (readonly [title: string, taken: string[], range: string | undefined])[] = [
    ["a machine without routes", [], "10.86.0.0/24"],
    ["routes elsewhere", ["0.0.0.0/0", "192.168.1.0/24", "10.0.0.0/16", "172.17.0.0/16"], "10.86.0.0/24"],
    ["an address in the first range", ["10.86.0.7"], "10.86.1.0/24"],
    ["a wider network over the first ranges", ["10.86.0.0/22"], "10.86.4.0/24"],
    ["a company's route for 10.0.0.0/8", ["10.0.0.0/8"], "172.31.0.0/24"],
    ["routes for two private blocks", ["10.0.0.0/8", "172.16.0.0/12"], "192.168.0.0/24"],
    ["a home network beside them", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/23"], "192.168.2.0/24"],
    ["routes for all of RFC 1918", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"], "100.127.0.0/24"],
    ["a VPN in place of the default route", ["0.0.0.0/1", "128.0.0.0/1"], "10.86.0.0/24"],
    [
      "routes for every block",
      ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15"],
      undefined,
    ],
    [
      "routes for half of the Internet each, in quarters",
      ["0.0.0.0/2", "64.0.0.0/2", "128.0.0.0/2", "192.0.0.0/2"],
      undefined,
    ],
  ];
  for (const [title, taken, range] of rows) {
    test(title, () => {
      const chosen = choosePodRange(networks(...taken));
      equal(chosen === undefined ? undefined : networkText(chosen), range);
    });
  }

  test("it never overlaps a route or an address", () => {
    const network = fc
      .tuple(
        fc.constantFrom(10, 172, 192, 100, 198, 8),
        fc.nat(255),
        fc.nat(255),
        fc.nat(255),
        fc.integer({ min: 4, max: 32 }),
      )
      .map(([a, b, c, d, length]) => `${a}.${b}.${c}.${d}/${length}`);
    fc.assert(
      fc.property(fc.array(network, { maxLength: 40 }), (texts) => {
        const taken = networks(...texts);
        const chosen = choosePodRange(taken);
        ok(chosen === undefined || !taken.some((one) => overlaps(one, chosen)));
      }),
    );
  });
});

test("networks are read with their host part cut off, and other text is none", () => {
  deepEqual(
    [
      "10.1.2.3/24",
      "10.1.2.3",
      "0.0.0.0/0",
      "255.255.255.255/32",
      "10.1.2.3/33",
      "10.1.2",
      "256.1.1.1",
      "::1/128",
      "",
    ].map((text) => {
      const network = readNetwork(text);
      return network === undefined ? undefined : networkText(network);
    }),
    [
      "10.1.2.0/24",
      "10.1.2.3/32",
      "0.0.0.0/0",
      "255.255.255.255/32",
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ],
  );
});

test("routes and addresses of every table are read from the kernel's trie", () => {
  const trie = `Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 192.0.2.0/24 2 0 2
        |-- 192.0.2.0
           /24 link UNICAST
           /30 universe BLACKHOLE
        |-- 192.0.2.2
           /32 host LOCAL
Id 200:
  |-- 10.86.0.0
     /16 universe UNICAST -o
`;
  deepEqual(readFibTrie(trie).map(networkText), [
    "0.0.0.0/0",
    "192.0.2.0/24",
    "192.0.2.0/30",
    "192.0.2.2/32",
    "10.86.0.0/16",
  ]);
  deepEqual(readFibTrie(""), []);
});
