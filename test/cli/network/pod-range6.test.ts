// The choice of IPv6 addresses for pods: given only where they work and cost the node nothing, and the same again on
// the same machine.

import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import {
  network6Text,
  overlaps6,
  readAddresses6,
  readNetwork6,
  readRoutes6,
  type Address6,
  type Network6,
} from "../../../src/cli/network/ipv6.js";
import { choosePodRange6, type Ipv6Facts, type Ipv6Wish } from "../../../src/cli/network/pod-range6.js";

const address = (text: string, name = "eth0", isDynamic = false): Address6 => {
  const network = readNetwork6(text);
  ok(network !== undefined, text);
  return { name, network, isGlobal: !text.startsWith("fe80"), isDynamic };
};
const networks = (...texts: string[]): Network6[] => texts.map((text) => address(text).network);
const PUBLIC = address("2001:db8::7/64");
const NODE: Ipv6Facts = {
  isThere: true,
  addresses: [PUBLIC, address("fe80::1/64")],
  routes: networks("::/0", "2001:db8::/64", "fe80::/64"),
  fromRouter: [],
  forwards: false,
  noMasquerade: undefined,
  machineId: "0123456789abcdef0123456789abcdef",
};
/** The prefix of this machine id. */
const OWN = network6Text(choosePodRange6("auto", NODE).range ?? { first: 0n, length: 0 });
const prefix = OWN.replace(/::\/64$/, "");

interface Row {
  wish?: Ipv6Wish;
  facts?: Partial<Ipv6Facts>;
  /** undefined: IPv4 only. */
  range: string | undefined;
  said?: RegExp;
}

const RA = { fromRouter: ["eth0"], addresses: [address("2001:db8::7/64", "eth0", true)] };
const ROWS: Record<string, Row> = {
  "a node with a global address": { range: OWN },
  "a node with a private address (ULA)": { facts: { addresses: [address("fd12::1/64")] }, range: OWN },
  "a node with link-local addresses only": { facts: { addresses: [address("fe80::1/64")] }, range: undefined },
  "a node without a global address, on request": {
    ...{ wish: "on", facts: { addresses: [address("fe80::1/64")] }, range: OWN },
  },
  "a node whose operator wants no IPv6": { wish: "off", range: undefined },
  "a kernel without IPv6": { facts: { isThere: false }, range: undefined },
  "a kernel without IPv6, on request": {
    ...{ wish: "on", facts: { isThere: false }, range: undefined, said: /^this kernel has no IPv6/ },
  },
  "a node that cannot masquerade": {
    ...{
      facts: { noMasquerade: "ip6tables is not there" },
      range: undefined,
      said: /masqueraded \(ip6tables is not th/,
    },
  },
  "a node that cannot masquerade, on request": {
    ...{ wish: "on", facts: { noMasquerade: "ip6tables failed" }, range: undefined, said: /masqueraded \(ip6tables/ },
  },
  "a route in the first subnet": {
    facts: { routes: networks("::/0", `${prefix}::/64`) },
    range: `${prefix}:1::/64`,
  },
  "an address in the first two subnets": {
    facts: { addresses: [PUBLIC, address(`${prefix}::9/63`)] },
    range: `${prefix}:2::/64`,
  },
  "a route for all private addresses": {
    ...{ facts: { routes: networks("fc00::/7") }, range: undefined, said: /a route of this node covers/ },
  },
  "the bridge that is left from an earlier network": {
    facts: { addresses: [PUBLIC, address("fd99::1/64", "nodelet0")] },
    range: "fd99::/64",
  },
  "a bridge that is left, and no other global address": {
    facts: { addresses: [address("fd99::1/64", "nodelet0")] },
    range: undefined,
  },
  "routes that a router gave": {
    facts: RA,
    range: undefined,
    said: /^eth0 would lose its IPv6 routes, .* To give them some: `printf 'net\.ipv6\.conf\.eth0\.accept_ra=2\\n' >.* && sysctl -p .*`, remove the new file, and `nodelet doctor --fix --dual-stack`$/,
  },
  "routes that a router gave, on request": {
    wish: "on",
    facts: RA,
    range: OWN,
    said: /`printf .*accept_ra=2.*` keeps them$/,
  },
  "routes that a router gave to a node that forwards already": { facts: { ...RA, forwards: true }, range: OWN },
};

describe("pods get IPv6 addresses, or a reason, on", () => {
  for (const [title, { wish = "auto", facts = {}, range, said }] of Object.entries(ROWS)) {
    test(title, () => {
      const chosen = choosePodRange6(wish, { ...NODE, ...facts });
      equal(chosen.range === undefined ? undefined : network6Text(chosen.range), range);
      if (said === undefined) equal(chosen.said, undefined);
      else match(chosen.said ?? "", said);
    });
  }
});

test("the range is a unique local one, the same for one machine and another for the next", () => {
  match(OWN, /^fd[0-9a-f]{2}:[0-9a-f]{1,4}:[0-9a-f]{1,4}::\/64$/);
  deepEqual(choosePodRange6("auto", NODE), choosePodRange6("auto", NODE));
  const other = choosePodRange6("auto", { ...NODE, machineId: "f".repeat(32) }).range;
  ok(other !== undefined);
  notEqual(network6Text(other), OWN);
});

test("texts of networks are read, and written in the usual form", () => {
  const rows: readonly (readonly [text: string, written: string | undefined])[] = [
    ["fd00:1:2:3::9/64", "fd00:1:2:3::/64"],
    ["::/0", "::/0"],
    ["2001:db8::7", "2001:db8::7/128"],
    ["10.0.0.1/8", undefined],
    ["fd00::/129", undefined],
    ["fd00::/x", undefined],
    ["word", undefined],
  ];
  for (const [text, written] of rows) {
    const network = readNetwork6(text);
    equal(network === undefined ? undefined : network6Text(network), written, text);
  }
  const [wide, inside, beside] = networks("fd00::/16", "fd00:5::/64", "fd01::/16");
  ok(wide !== undefined && inside !== undefined && beside !== undefined);
  deepEqual([overlaps6(wide, inside), overlaps6(inside, wide), overlaps6(wide, beside)], [true, true, false]);
});

test("the kernel's lists of routes and addresses are read", () => {
  const zero = "0".repeat(32);
  const routes = [
    `20010db8000000000000000000000000 40 ${zero} 00 ${zero} 00000100 00000001 00000000 00000001     eth0`,
    `${zero} 00 ${zero} 00 fe800000000000000000000000000001 00000400 00000001 00000000 00450003     eth0`,
    "",
  ].join("\n");
  deepEqual(readRoutes6(routes).map(network6Text), ["2001:db8::/64", "::/0"]);
  const addresses = [
    "00000000000000000000000000000001 01 80 10 80       lo",
    "fe800000000000000000000000000001 02 40 20 80     eth0",
    "20010db8000000000000000000000007 02 40 00 00     eth0",
    "20010db8000000000000000000000008 03 40 00 80 eth0.100",
    "",
  ].join("\n");
  deepEqual(
    readAddresses6(addresses).map(({ name, network, isGlobal, isDynamic }) => [
      name,
      network6Text(network),
      isGlobal,
      isDynamic,
    ]),
    [
      ["lo", "::1/128", false, false],
      ["eth0", "fe80::/64", false, false],
      ["eth0", "2001:db8::/64", true, true],
      ["eth0.100", "2001:db8::/64", true, false],
    ],
  );
});
