// Host names of probes and hooks: found as upstream's resolver finds them, bounded, and never by libuv's pool.
// @promise Probes and hooks: Host names of probes and hooks are resolved without libuv's pool, like upstream's
//   resolver. They are bounded and cancelled with the probe.

import assert from "node:assert/strict";
import dns from "node:dns";
import { once } from "node:events";
import { appendFile, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { dial, reset } from "../../../../src/shared/io/net/dial.js";
import { addressesIn, HostsSearch } from "../../../../src/shared/io/net/hosts-search.js";
import { candidates, parseResolvConf, PodLookups } from "../../../../src/shared/io/net/pod-lookups.js";
import { temporaryFolder } from "../../../support/sources-kit.js";
import { assertCpuBelow } from "../../../support/thread-cpu.js";

const never = new AbortController().signal;
const HOSTS = "127.0.0.1 localhost loop # a comment with web\n::1\tlocalhost\n10.1.2.3 WEB.test web\nnonsense web\n";
const conf = () => Promise.resolve("nameserver 10.0.0.1\nsearch ns.svc.test. test\noptions timeout:1 ndots:2\n");
const hosts = { addressesOf: (name: string) => Promise.resolve(addressesIn(HOSTS, name)) };
const noHosts = { addressesOf: () => Promise.resolve([]) };

test("/etc/hosts comes first, without regard to case", async () => {
  assert.deepEqual(addressesIn(HOSTS, "localhost"), ["127.0.0.1", "::1"]);
  assert.deepEqual(addressesIn(HOSTS, "web"), ["10.1.2.3"]);
  const lookups = new PodLookups({ hosts, resolvConf: conf, query: () => Promise.reject(new Error("asked")) });
  assert.deepEqual(await lookups.addresses("web.TEST", never), ["10.1.2.3"]);
  assert.deepEqual(await lookups.addresses("fd00::1", never), ["fd00::1"]);
});

test("no name server gets a query for localhost", async () => {
  const query = () => Promise.reject(new Error("asked"));
  const lookups = new PodLookups({ hosts: noHosts, resolvConf: conf, query });
  assert.deepEqual(await lookups.addresses("localhost", never), ["127.0.0.1", "::1"]);
});

test("Search domains come first for names with fewer dots than ndots, and last for others", async () => {
  const parsed = parseResolvConf(await conf());
  assert.deepEqual(parsed, { search: ["ns.svc.test.", "test"], ndots: 2 });
  assert.deepEqual(candidates("db", parsed), ["db.ns.svc.test", "db.test", "db"]);
  assert.deepEqual(candidates("a.b.c", parsed), ["a.b.c", "a.b.c.ns.svc.test", "a.b.c.test"]);
  assert.deepEqual(candidates("db.", parsed), ["db"]);
  const asked: string[] = [];
  const query = (name: string) => {
    asked.push(name);
    return Promise.resolve(name === "db.test" ? ["10.9.9.9"] : []);
  };
  const lookups = new PodLookups({ hosts, resolvConf: conf, query });
  assert.deepEqual(await lookups.addresses("db", never), ["10.9.9.9"]);
  assert.deepEqual(asked, ["db.ns.svc.test", "db.test"]);
  await assert.rejects(lookups.addresses("nothing", never), { message: "lookup nothing: no such host" });
});

test("look-ups without a response leave turns to other names; those beyond the limit wait, and end with their signal", async () => {
  let alive = false;
  const query = (name: string, signal: AbortSignal): Promise<string[]> =>
    alive || !name.startsWith("dead")
      ? Promise.resolve(["10.9.9.9"])
      : new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("called off"))));
  const lookups = new PodLookups({ hosts, resolvConf: () => Promise.resolve(""), query });
  const end = new AbortController();
  const dead = Array.from({ length: 40 }, () => assert.rejects(lookups.addresses("dead", end.signal)));
  assert.deepEqual(await lookups.addresses("alive", never), ["10.9.9.9"]);
  const waits = lookups.addresses("dead", never);
  const over = new AbortController();
  const gone = assert.rejects(lookups.addresses("dead", over.signal), /the probe is over/);
  over.abort(new Error("the probe is over"));
  await gone;
  alive = true;
  end.abort();
  await Promise.all(dead);
  assert.deepEqual(await waits, ["10.9.9.9"]);
});

test("a name at the end of a hosts file of megabytes is found, and a change of the file is seen", async (t) => {
  const path = join(await temporaryFolder(t), "hosts");
  const search = new HostsSearch(path);
  assert.deepEqual(await search.addressesOf("web"), []);
  await writeFile(path, `# list\n${"0.0.0.0 blocked.example.test\n".repeat(150_000)}10.0.0.1 Web other\r\n`);
  assert.deepEqual(await search.addressesOf("web"), ["10.0.0.1"]);
  assert.deepEqual(await search.addressesOf("blocked.example"), [], "a part of a name is none");
  await appendFile(path, `fd00::1 web # ${"x".repeat(200_000)}\n10.0.0.3 web`);
  assert.deepEqual(await search.addressesOf("web"), ["10.0.0.1", "fd00::1", "10.0.0.3"]);
  await rm(path);
  assert.deepEqual(await search.addressesOf("web"), []);
});

test("A probe's connection to a host name never calls getaddrinfo", async (t) => {
  const server = createServer((socket) => socket.on("error", () => undefined)).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const getaddrinfo = t.mock.method(dns, "lookup");
  reset(await dial("localhost", (server.address() as AddressInfo).port, never));
  assert.equal(getaddrinfo.mock.callCount(), 0);
});

test("Megabytes of hosts and resolv.conf are read in linear time", () => {
  const [hosts, resolvConf] = ["1.2.3.4 a\n".repeat(200_000), `search ${"a ".repeat(500_000)}`];
  assertCpuBelow(500, () => addressesIn(hosts, "b"));
  assertCpuBelow(500, () => parseResolvConf(resolvConf));
});
