// Which texts are request targets, and the one value that each is read as.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseTarget, queryOf } from "../../../../src/shared/io/http/target.js";

function partsOf(text: string): object | undefined {
  const target = parseTarget(text, "https");
  return target && { path: target.path, query: target.query, authority: target.authority };
}

test("a target in origin form is a decoded path and a query", () => {
  const table: [string, string, string][] = [
    ["/", "/", ""],
    ["/pods", "/pods", ""],
    ["/pods/?a=b?c", "/pods/", "a=b?c"],
    ["/a%2Fb%20c/%C3%A4", "/a/b c/ä", ""],
    ["/%2523", "/%23", ""],
    ["//x/../y;z", "//x/../y;z", ""],
    ["/%00?%zz", "/\0", "%zz"],
    ['/a\\b"<>^`{|}', '/a\\b"<>^`{|}', ""],
  ];
  for (const [text, path, query] of table) deepEqual(partsOf(text), { path, query, authority: undefined }, text);
  equal(queryOf({ query: "a=b%20c&a=d" }).getAll("a").join(), "b c,d");
  const queries: [string, [string, string][]][] = [
    ["", []],
    ["&&a&&", [["a", ""]]],
    [
      "=x&a==b=c",
      [
        ["", "x"],
        ["a", "=b=c"],
      ],
    ],
    ["a=1;b=2&c=3", [["c", "3"]]],
    ["a;&%3b=%3B", [[";", ";"]]],
    ["a=%zz&b=%&c=%4&%=d&e=5", [["e", "5"]]],
    ["?a=b", [["?a", "b"]]],
    ["a+b=c+d%2B", [["a b", "c d+"]]],
  ];
  for (const [query, parameters] of queries) deepEqual([...queryOf({ query })], parameters, query);
});

test("a plain URL of this server is its path, query and host", () => {
  const authority = { name: "node-1", port: 10_250 };
  deepEqual(partsOf("https://Node-1:10250/pods?x"), { path: "/pods", query: "x", authority });
  deepEqual(partsOf("HTTPS://node-1:10250"), { path: "/", query: "", authority });
  deepEqual(partsOf("https://node-1:10250?x"), { path: "/", query: "x", authority });
});

test("no other text is a target", () => {
  const table = [
    "",
    "*",
    "*manifests",
    "#",
    "/#",
    "/manifests#",
    "/?a#b",
    "pods",
    "node-1:10250",
    "?",
    "http://x/y",
    "ftp://x/y",
  ];
  table.push("https:/x", "https://", "https:///x", "https://u@x/y", "https://u:p@x/y", "https://x:y/z", "https://x#y");
  table.push("/a b", "/a\tb", "/a\0", "/\x7f", "/%", "/%z0", "/%4", "/%u0041", "https://x\\y/z");
  for (const text of table) equal(parseTarget(text, "https"), undefined, text);
});

test("a path that is no UTF-8 is marked, and its bytes and escapes are read alike", () => {
  for (const text of ["/%ff", "/%c3", "/\xff", "/x/%c3%28", "/%ed%a0%80"])
    equal(parseTarget(text, "https")?.isUtf8, false, text);
  for (const text of ["/%c3%a4", "/\xc3\xa4", "/%EF%BF%BD", "/a"])
    equal(parseTarget(text, "https")?.isUtf8, true, text);
  equal(parseTarget("/\xc3\xa4", "https")?.path, "/ä");
  equal(parseTarget("/?\xc3\xa4", "https")?.query, "ä");
});

test("segments tell an escaped slash from a slash", () => {
  deepEqual(parseTarget("/a%2fb/c", "https")?.segments, ["a/b", "c"]);
  deepEqual(parseTarget("/a%2fb/c", "https")?.path, "/a/b/c");
});

test("every target has a path that begins with a slash, and no text throws", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.string().map((text) => `/${text}`),
      ),
      (text) => {
        const target = parseTarget(text, "https");
        if (target !== undefined) equal(target.path[0], "/");
      },
    ),
  );
});
