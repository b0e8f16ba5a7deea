// Which texts name a host, and which of them this machine's loopback interface.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { isLoopbackAddress, isLoopbackHost, parseHost } from "../../../../src/shared/io/http/host.js";

test("a host is a name, an address or a bracketed IPv6 address, with an optional port", () => {
  const table: [string, string, number | undefined][] = [
    ["localhost", "localhost", undefined],
    ["LocalHost:10255", "localhost", 10_255],
    ["node-1.example_x.com:", "node-1.example_x.com", undefined],
    ["10.0.0.7:0", "10.0.0.7", 0],
    ["[::1]:65535", "[::1]", 65_535],
    ["[FE80::1%eth0]", "[fe80::1%eth0]", undefined],
    ["a%2db", "a%2db", undefined],
    ["", "", undefined],
  ];
  for (const [text, name, port] of table) deepEqual(parseHost(text), { name, port }, text);
});

test("a text that parsers could read differently is no host", () => {
  const table = [
    "a b",
    " a",
    "a/b",
    "a@b",
    "a?b",
    "a#b",
    "a\\b",
    "a:1:2",
    "a:x",
    "a:-1",
    "a:65536",
    "a:+1",
    "::1",
    "[::1",
  ];
  table.push("::1]", "[::1]x", "[::1]:x", "[]", "[localhost]", "[127.0.0.1]", "a%", "a%zz", "ä", "a\0", "a,b:x", '"a"');
  for (const text of table) equal(parseHost(text), undefined, text);
});

test("localhost, 127.0.0.0/8 and ::1 are this machine's loopback, in every spelling of an address that sockets use", () => {
  const loopback = (text: string) => isLoopbackHost(parseHost(text) ?? { name: "malformed", port: undefined });
  for (const text of ["localhost", "LOCALHOST:1", "127.0.0.1", "127.1.2.3:80", "[::1]:1"])
    equal(loopback(text), true, text);
  const others = [
    "localhost.",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "127.1",
    "2130706433",
    "0x7f.1",
    "10.0.0.1",
  ];
  for (const text of [...others, "", "[::]", "0.0.0.0", "evil.example"]) equal(loopback(text), false, text);
  for (const address of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "::FFFF:127.0.0.1"])
    equal(isLoopbackAddress(address), true, address);
  for (const address of ["10.0.0.1", "::ffff:10.0.0.1", "fe80::1", "", "127.evil"])
    equal(isLoopbackAddress(address), false, address);
});
