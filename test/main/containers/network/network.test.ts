import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { hostNetworkHostsFile, podHostsFile } from "../../../../src/main/containers/network/hosts-file.js";
import type { NodeDns } from "../../../../src/main/containers/network/pod-dns.js";
import { podDns } from "../../../../src/main/containers/network/pod-dns.js";
import { podHostname, sandboxHostname } from "../../../../src/main/containers/network/pod-hostname.js";
import { parseResolvConf } from "../../../../src/main/containers/network/resolv-conf.js";
import { makePod } from "../../pods/status/fixtures.js";

const HEAD =
  "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n" +
  "fe00::0\tip6-localnet\nfe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n";

test("hosts file: exact text", () => {
  const podIPs = ["10.0.0.5", "fd00::5"];
  assert.equal(podHostsFile({ podIPs, hostname: "web", domain: "" }), `${HEAD}10.0.0.5\tweb\nfd00::5\tweb\n`);
  const aliases = [
    { ip: "1.2.3.4", hostnames: ["a", "b"] },
    { ip: "::2", hostnames: ["c"] },
  ];
  assert.equal(
    podHostsFile({ podIPs: ["10.0.0.5"], hostname: "web", domain: "sub.ns.svc.x", aliases }),
    `${HEAD}10.0.0.5\tweb.sub.ns.svc.x\tweb\n\n# Entries added by HostAliases.\n1.2.3.4\ta\tb\n::2\tc\n`,
  );
  assert.equal(
    hostNetworkHostsFile(Buffer.from("127.0.0.1 localhost # \xff\n", "latin1"), aliases.slice(1)).toString("latin1"),
    "# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost # \xff\n\n# Entries added by HostAliases.\n::2\tc\n",
  );
  assert.equal(
    podHostsFile({ podIPs: [], hostname: "web", domain: "", aliases: [{ ip: "1.2.3.4" }] }),
    `${HEAD}\n# Entries added by HostAliases.\n1.2.3.4\t\n`,
  );
});

test("host name: override, spec, pod name; cut and trimmed; domain of the subdomain", () => {
  const long = `${"a".repeat(61)}.-bcd`;
  const domain = "sub.ns.svc.cluster.local";
  const rows: [Parameters<typeof makePod>[0], Parameters<typeof makePod>[1], string, string][] = [
    [{}, {}, "web", ""],
    [{ hostname: "h" }, {}, "h", ""],
    [{ hostname: "h", subdomain: "sub" }, {}, "h", domain],
    [{ hostname: "h", subdomain: "sub", hostnameOverride: "o" }, {}, "o", ""],
    [{}, { name: "b".repeat(70) }, "b".repeat(63), ""],
    [{}, { name: long }, "a".repeat(61), ""],
  ];
  for (const [spec, meta, hostname, expected] of rows) {
    assert.deepEqual(podHostname(makePod(spec, meta), "cluster.local"), { hostname, domain: expected });
  }
});

test("setHostnameAsFQDN: full name up to 64 characters, an error beyond", () => {
  const pod = (name: string) => makePod({ setHostnameAsFQDN: true, subdomain: "s" }, { name });
  const suffix = ".s.ns.svc.x";
  assert.equal(sandboxHostname(pod("web"), "x"), `web${suffix}`);
  const fits = "a".repeat(64 - suffix.length);
  assert.equal(sandboxHostname(pod(fits), "x").length, 64);
  assert.throws(() => sandboxHostname(pod(`${fits}b`), "x"), { name: "OperatorError" });
  assert.equal(sandboxHostname(makePod({ setHostnameAsFQDN: true }), "x"), "web", "no domain, no FQDN");
});

test("the last search line of the node's resolv.conf wins", () => {
  const text = [
    "# nameserver 9.9.9.9",
    "nameserver 1.1.1.1",
    "nameserver\t2.2.2.2  extra",
    "nameserver",
    "search old.example",
    "search a.example. . b.example",
    "options ndots:1 rotate",
    "options ndots:3 timeout:2",
    "sortlist 1.2.3.4",
    "",
  ].join("\n");
  assert.deepEqual(parseResolvConf(text), {
    servers: ["1.1.1.1", "2.2.2.2"],
    searches: ["a.example", "b.example"],
    options: ["ndots:3", "rotate", "timeout:2"],
  });
  assert.deepEqual(parseResolvConf(""), { servers: [], searches: [], options: [] });
});

const host = { servers: ["1.1.1.1"], searches: ["corp", "svc.cl"], options: ["rotate"] };
const node: NodeDns = {
  inCluster: true,
  clusterDNS: ["10.96.0.10"],
  clusterDomain: "cl",
  host,
  nodeIPs: ["192.0.2.1"],
};
const clusterFirst = { servers: ["10.96.0.10"], searches: ["ns.svc.cl", "svc.cl", "cl", "corp"], options: ["ndots:5"] };
const none = { servers: [], searches: [], options: [] };

test("each DNS policy chooses its servers", () => {
  const rows: [string, Parameters<typeof makePod>[0], Partial<NodeDns>, typeof host][] = [
    ["None", { dnsPolicy: "None" }, {}, none],
    ["unset is ClusterFirst", {}, {}, clusterFirst],
    ["ClusterFirst on host network is Default", { dnsPolicy: "ClusterFirst", hostNetwork: true }, {}, host],
    ["ClusterFirstWithHostNet", { dnsPolicy: "ClusterFirstWithHostNet", hostNetwork: true }, {}, clusterFirst],
    ["Default", { dnsPolicy: "Default" }, {}, host],
    [
      "no resolvConf",
      { dnsPolicy: "Default" },
      { host: undefined },
      { servers: ["127.0.0.1"], searches: ["."], options: [] },
    ],
    [
      "no resolvConf, dual stack",
      { dnsPolicy: "Default" },
      { host: undefined, nodeIPs: ["fd00::1", "192.0.2.1"] },
      { servers: ["::1", "127.0.0.1"], searches: ["."], options: [] },
    ],
    ["no cluster domain", {}, { clusterDomain: "" }, { ...clusterFirst, searches: ["corp", "svc.cl"] }],
    [
      "no cluster domain, and a search line with a domain twice",
      {},
      { clusterDomain: "", host: { ...host, searches: ["a", "a", "b"] } },
      { ...clusterFirst, searches: ["a", "a", "b"] },
    ],
  ];
  for (const [name, spec, change, expected] of rows) {
    assert.deepEqual(podDns(makePod(spec), { ...node, ...change }), { dns: expected, warnings: [] }, name);
  }
});

test("ClusterFirst without cluster DNS falls back and warns pod and node", () => {
  const { dns, warnings } = podDns(makePod(), { ...node, clusterDNS: [] });
  assert.deepEqual(dns, host);
  const text =
    'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';
  assert.deepEqual(warnings, [
    { reason: "MissingClusterDNS", object: "pod", message: `pod: "web_ns(u1)". ${text}` },
    { reason: "MissingClusterDNS", object: "node", message: text },
  ]);
});

test("a node without a cluster uses the host's resolver for ClusterFirst and warns about nothing", () => {
  for (const spec of [{}, { dnsPolicy: "ClusterFirstWithHostNet" as const, hostNetwork: true }]) {
    const outcome = podDns(makePod(spec), { ...node, inCluster: false, clusterDNS: [] });
    assert.deepEqual(outcome, { dns: host, warnings: [] });
  }
});

test("without a dnsConfig the node's own lines are passed on as they are", () => {
  const host = { servers: ["10.0.0.1", "10.0.0.1"], searches: ["a", "b", "a"], options: [] };
  const plain = podDns(makePod({ dnsPolicy: "Default" }), { ...node, host });
  assert.deepEqual(plain, { dns: host, warnings: [] });
  const { dns } = podDns(makePod({ dnsPolicy: "Default", dnsConfig: {} }), { ...node, host });
  assert.deepEqual([dns.servers, dns.searches], [["10.0.0.1"], ["a", "b"]]);
});

test("dnsConfig is appended without duplicates; a later option replaces one of its name", () => {
  const dnsConfig = {
    nameservers: ["10.96.0.10", "8.8.8.8"],
    searches: ["cl", "mine"],
    options: [{ name: "ndots", value: "2" }, { name: "edns0" }],
  };
  assert.deepEqual(podDns(makePod({ dnsConfig }), node).dns, {
    servers: ["10.96.0.10", "8.8.8.8"],
    searches: [...clusterFirst.searches, "mine"],
    options: ["ndots:2", "edns0"],
  });
  assert.deepEqual(podDns(makePod({ dnsPolicy: "None", dnsConfig }), node).dns.searches, ["cl", "mine"]);
});

test("limits cut and warn", () => {
  const nameservers = ["1.0.0.1", "1.0.0.2", "1.0.0.3", "1.0.0.4"];
  const cut = podDns(makePod({ dnsPolicy: "None", dnsConfig: { nameservers } }), node);
  assert.deepEqual(cut.dns.servers, nameservers.slice(0, 3));
  assert.equal(
    cut.warnings[0]?.message,
    "Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 1.0.0.1 1.0.0.2 1.0.0.3",
  );
  const long = "x".repeat(254);
  const filtered = podDns(makePod({ dnsPolicy: "None", dnsConfig: { searches: ["a", long, "b"] } }), node);
  assert.deepEqual(filtered.dns.searches, ["a", "b"]);
  assert.equal(
    filtered.warnings[0]?.message,
    "Search Line limits were exceeded, some search paths have been omitted, the applied search line is: a b",
  );
});

test("for any searches the applied line is within the limits, with a warning exactly when it was cut", () => {
  const domain = fc.string({ minLength: 1, maxLength: 260 }).map((text) => text.replace(/\s/g, "x"));
  fc.assert(
    fc.property(fc.uniqueArray(domain, { maxLength: 60 }), (searches) => {
      const { dns, warnings } = podDns(makePod({ dnsPolicy: "None", dnsConfig: { searches } }), node);
      assert.ok(dns.searches.length <= 32 && dns.searches.join(" ").length <= 2048);
      assert.ok(dns.searches.every((each) => each.length <= 253 && searches.includes(each)));
      assert.equal(warnings.length, dns.searches.length < searches.length ? 1 : 0);
    }),
  );
});
