// Odd requests for files of the log folder: conditions, ranges, redirects and queries. Each row has what Go's file
// server (net/http.FileServer, which upstream's kubelet uses) answers.

import { deepEqual, equal } from "node:assert/strict";
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Certificates, SecurePort } from "../../ports/secure-port-kit.js";

const MODIFIED = "Tue, 14 Nov 2023 22:13:20 GMT";
const BEFORE = "Tue, 14 Nov 2023 22:13:19 GMT";
const AFTER = "Tue, 14 Nov 2023 22:13:21 GMT";
const TEXT = "0123456789";

let certificates: Certificates;
let server: SecurePort;
before(async () => {
  certificates = await Certificates.create();
  const folder = join(certificates.dir, "log");
  await mkdir(join(folder, "app", "sub"), { recursive: true });
  for (const [name, text] of [
    ["sys.log", TEXT],
    ["empty", ""],
    ["app/index.html", "<p>index</p>"],
    ["app/xindex.html", "x"],
    ["a%2f b", "escaped"],
    ["binary", "\0\0\0\0text text"],
    ["large", "x".repeat(20_000)],
  ] as const) {
    await writeFile(join(folder, name), text);
    await utimes(join(folder, name), 1_700_000_000.9, 1_700_000_000.9);
  }
  await mkdir(join(folder, "names"));
  for (const name of ["a b", "c+d", "e(1).log", "f:g", "h?i", "j#k", "l&m", "n%", "ü", "*"]) {
    await writeFile(join(folder, "names", name), "");
  }
  await writeFile(join(folder, "old"), "old");
  await utimes(join(folder, "old"), 0, 0);
  server = await new SecurePort(certificates).open({ logDirectory: folder });
});
after(async () => {
  await server.close();
  await certificates.remove();
});

type Headers = Readonly<Record<string, string>>;

describe("conditions", () => {
  const ROWS: readonly (readonly [headers: Headers, status: number, body?: string])[] = [
    [{ "if-modified-since": MODIFIED }, 304],
    [{ "if-modified-since": AFTER }, 304],
    [{ "if-modified-since": BEFORE }, 200],
    [{ "if-modified-since": "Tuesday, 14-Nov-23 22:13:20 GMT" }, 304],
    [{ "if-modified-since": "Tue Nov 14 22:13:20 2023" }, 304],
    [{ "if-modified-since": "2023-11-14T22:13:20Z" }, 200],
    [{ "if-modified-since": "Tue, 14 Nov 2023 22:13:20 CET" }, 200],
    [{ "if-modified-since": "Wednesday, 14-Nov-70 22:13:20 GMT" }, 200],
    [{ "if-modified-since": "never" }, 200],
    [{ "if-modified-since": MODIFIED, range: "bytes=0-1" }, 304],
    [{ "if-unmodified-since": MODIFIED }, 200],
    [{ "if-unmodified-since": BEFORE }, 412],
    [{ "if-unmodified-since": "never" }, 200],
    [{ "if-match": "*" }, 200],
    [{ "if-match": '"a", *' }, 200],
    [{ "if-match": '"a", W/"b"' }, 412],
    [{ "if-match": "a, *" }, 412],
    [{ "if-match": "*", "if-unmodified-since": BEFORE }, 200],
    [{ "if-none-match": "*" }, 304],
    [{ "if-none-match": ' , "a" ,*' }, 304],
    [{ "if-none-match": '"a"' }, 200],
    [{ "if-none-match": '"a"', "if-modified-since": AFTER }, 200],
    [{ range: "bytes=0-1", "if-range": MODIFIED }, 206, "01"],
    [{ range: "bytes=0-1", "if-range": BEFORE }, 200],
    [{ range: "bytes=0-1", "if-range": AFTER }, 200],
    [{ range: "bytes=0-1", "if-range": '"tag"' }, 200],
    [{ range: "bytes=0-1", "if-range": "never" }, 200],
    [{ range: "lines=0-1", "if-range": BEFORE }, 200],
  ];
  for (const [headers, status, body] of ROWS) {
    test(JSON.stringify(headers), async () => {
      const answer = await server.ask("/logs/sys.log", { headers });
      equal(answer.status, status);
      equal(answer.body, body ?? (status === 200 ? TEXT : ""));
      equal(answer.headers["last-modified"], MODIFIED);
    });
  }

  test("a file of the epoch has no date, and no condition of dates holds for it", async () => {
    const headers = { "if-modified-since": AFTER, "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT" };
    const answer = await server.ask("/logs/old", { headers });
    deepEqual([answer.status, answer.headers["last-modified"]], [200, undefined]);
  });
});

describe("ranges", () => {
  const ROWS: readonly (readonly [range: string, status: number, body: string, contentRange?: string])[] = [
    ["bytes=0-", 206, TEXT, "bytes 0-9/10"],
    ["bytes=2-3", 206, "23", "bytes 2-3/10"],
    ["bytes=2-99", 206, "23456789", "bytes 2-9/10"],
    ["bytes=-3", 206, "789", "bytes 7-9/10"],
    ["bytes=-99", 206, TEXT, "bytes 0-9/10"],
    ["bytes=-0", 206, "", "bytes 10-9/10"],
    ["bytes= 1 - 2 ", 206, "12", "bytes 1-2/10"],
    ["bytes=+1-+2", 206, "12", "bytes 1-2/10"],
    ["bytes=0001-0002", 206, "12", "bytes 1-2/10"],
    ["bytes=1-2,", 206, "12", "bytes 1-2/10"],
    ["bytes=,,1-2", 206, "12", "bytes 1-2/10"],
    ["bytes=1-2,20-30", 206, "12", "bytes 1-2/10"],
    ["bytes=9-9223372036854775807", 206, "9", "bytes 9-9/10"],
    ["bytes=", 200, TEXT],
    ["bytes=,", 200, TEXT],
    ["bytes=10-", 416, "invalid range: failed to overlap\n", "bytes */10"],
    ["bytes=10-5", 416, "invalid range: failed to overlap\n", "bytes */10"],
    ["bytes=20-,30-", 416, "invalid range: failed to overlap\n", "bytes */10"],
    ["bytes=5-4", 416, "invalid range\n"],
    ["bytes=-", 416, "invalid range\n"],
    ["bytes=--1", 416, "invalid range\n"],
    ["bytes=1", 416, "invalid range\n"],
    ["bytes=a-b", 416, "invalid range\n"],
    ["bytes=1-2,x", 416, "invalid range\n"],
    ["bytes=0x1-2", 416, "invalid range\n"],
    ["bytes=1-9223372036854775808", 416, "invalid range\n"],
    ["Bytes=1-2", 416, "invalid range\n"],
    ["lines=1-2", 416, "invalid range\n"],
    ["bytes=0-5,3-9", 200, TEXT],
    ["bytes=0-,0-0", 200, TEXT],
    ["bytes=-10,-1", 200, TEXT],
  ];
  for (const [range, status, body, contentRange] of ROWS) {
    test(range, async () => {
      const answer = await server.ask("/logs/sys.log", { headers: { range } });
      deepEqual([answer.status, answer.body, answer.headers["content-range"]], [status, body, contentRange]);
    });
  }

  test("a range of an empty file is the empty file", async () => {
    const answer = await server.ask("/logs/empty", { headers: { range: "bytes=0-99" } });
    deepEqual([answer.status, answer.body], [200, ""]);
  });
});

describe("several ranges", () => {
  type Part = readonly [contentRange: string, body: string];
  const ROWS: readonly (readonly [range: string, parts: readonly Part[]])[] = [
    ["bytes=0-1,3-4", [["0-1", "01"], ["3-4", "34"]]], // oxfmt-ignore
    ["bytes=3-4,0-1", [["3-4", "34"], ["0-1", "01"]]], // oxfmt-ignore
    ["bytes=0-4,5-", [["0-4", "01234"], ["5-9", "56789"]]], // oxfmt-ignore
    ["bytes=0-4,0-4", [["0-4", "01234"], ["0-4", "01234"]]], // oxfmt-ignore
    ["bytes=0-0,-1,99-", [["0-0", "0"], ["9-9", "9"]]], // oxfmt-ignore
    ["bytes=,0-0 , 2-2,,4-4,", [["0-0", "0"], ["2-2", "2"], ["4-4", "4"]]], // oxfmt-ignore
    ["bytes=0-9,-0", [["0-9", TEXT], ["10-9", ""]]], // oxfmt-ignore
  ];
  for (const [range, parts] of ROWS) {
    test(range, async () => {
      const { status, body, headers } = await server.ask("/logs/sys.log", { headers: { range } });
      const type = headers["content-type"] ?? "";
      const [, boundary = ""] = /^multipart\/byteranges; boundary=([0-9a-f]{60})$/.exec(type) ?? [];
      const expected = parts.map(
        ([at, text]) =>
          `--${boundary}\r\nContent-Range: bytes ${at}/10\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${text}\r\n`,
      );
      deepEqual([status, body], [206, `${expected.join("")}--${boundary}--\r\n`]);
      deepEqual([headers["content-length"], headers["content-range"]], [String(body.length), undefined]);
      deepEqual([headers["accept-ranges"], headers["last-modified"]], ["bytes", MODIFIED]);
    });
  }

  test("the type of a part is that of the file, not of the part's bytes", async () => {
    for (const [range, type] of [
      ["bytes=4-5", "application/octet-stream"],
      ["bytes=4-5,7-7", "multipart/byteranges"],
    ]) {
      const { body, headers } = await server.ask("/logs/binary", { headers: { range } });
      equal(headers["content-type"]?.split(";")[0], type);
      equal(body.includes("text/plain"), false);
    }
  });

  test("ten thousand ranges of a byte are sent one after the other", async () => {
    const range = `bytes=${Array.from({ length: 10_000 }, (_, at) => `${at}-${at}`).join(",")}`;
    const { status, body } = await server.ask("/logs/large", { headers: { range } });
    deepEqual([status, body.match(/Content-Range/g)?.length], [206, 10_000]);
  });
});

describe("paths", () => {
  const ROWS: readonly (readonly [path: string, status: number, place?: string])[] = [
    ["/logs/app", 301, "app/"],
    ["/logs/app?a=b&c;d", 301, "app/?a=b&c;d"],
    ["/logs/app?", 301, "app/"],
    ["/logs/sys.log/?a", 301, "../sys.log?a"],
    ["/logs/app/index.html", 301, "./"],
    ["/logs/app/index.html?x=%0d%0aY", 301, "./?x=%0d%0aY"],
    ["/logs/index.html", 301, "./"],
    ["/logs/nothing/index.html", 301, "./"],
    ["/logs/app/xindex.html", 200],
    ["/logs/app/INDEX.html", 404],
    ["/logs/app/sub/", 200],
  ];
  for (const [path, status, place] of ROWS) {
    test(path, async () => {
      const answer = await server.ask(path);
      deepEqual([answer.status, answer.headers.location], [status, place]);
    });
  }

  test("names in a listing are escaped as Go escapes a path", async () => {
    const { body } = await server.ask("/logs/names/");
    deepEqual(
      [...body.matchAll(/href="([^"]*)">/g)].map(([, href]) => href),
      ["*", "a%20b", "c+d", "e%281%29.log", "./f:g", "h%3Fi", "j%23k", "l&m", "n%25", "%C3%BC"],
    );
  });

  test("the listing of a folder has its date, and no conditions but that", async () => {
    const shown = await server.ask("/logs/app/sub/");
    const date = shown.headers["last-modified"] ?? "";
    equal(new Date(date).toUTCString(), date);
    for (const [headers, status] of [
      [{ "if-modified-since": date }, 304],
      [{ "if-modified-since": BEFORE }, 200],
      [{ "if-match": '"a"', range: "bytes=0-1" }, 200],
    ] as const) {
      equal((await server.ask("/logs/app/sub/", { headers })).status, status);
    }
  });

  test("a folder with an index shows it in place of a listing", async () => {
    const answer = await server.ask("/logs/app/", { headers: { range: "bytes=3-7" } });
    deepEqual([answer.status, answer.body], [206, "index"]);
  });
});
