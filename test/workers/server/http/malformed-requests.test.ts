// What Go's server refuses as ambiguous is refused on every port and socket, before authentication and routes: raw
// bytes on real connections. test/facts/http-server.jsonl has many more, for two of the ports. Source: net/http of Go,
// https://www.rfc-editor.org/rfc/rfc9112

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { connect as connectHttp2 } from "node:http2";
import { after, before, describe, test } from "node:test";
import { EveryPort, PORTS, type PortName } from "../every-port-kit.js";
import { Certificates, SecurePort } from "../ports/secure-port-kit.js";

let ports: EveryPort;
before(async () => (ports = await EveryPort.open()));
after(() => ports.close());

const HOST = "Host: localhost:1\r\n";
const END = "Connection: close\r\n\r\n";
/** A path that the port answers, and its status. */
const KNOWN: Readonly<Record<PortName, [string, number]>> = {
  authenticated: ["/healthz", 200],
  "read-only": ["/healthz", 200],
  healthz: ["/healthz", 200],
  "status page": ["/", 302],
  "admin socket": ["/healthz", 200],
  API: ["/version", 401],
};
const statusOf = (text: string): number => Number(/^HTTP\/1\.[01] (\d{3}) /.exec(text)?.[1]);

/** Requests for PATH. */
const MALFORMED: [string, string][] = [
  ["two Host headers", `GET PATH HTTP/1.1\r\n${HOST}Host: other\r\n${END}`],
  ["two equal Host headers", `GET PATH HTTP/1.1\r\n${HOST}${HOST}${END}`],
  ["two Host headers of HTTP/1.0", `GET PATH HTTP/1.0\r\n${HOST}hOST: other\r\n${END}`],
  ["no Host header", `GET PATH HTTP/1.1\r\n${END}`],
  ["no Host header in an upgrade", "GET PATH HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"],
  ["two Host headers in an upgrade", `GET PATH HTTP/1.1\r\n${HOST}${HOST}Connection: Upgrade\r\nUpgrade: x\r\n\r\n`],
  ...["a b", "a/b", "a@b", "a?b", "a#b", "a\\b", "<a>", "\xe4", "a, b"].map((host): [string, string] => [
    `the Host ${JSON.stringify(host)}`,
    `GET PATH HTTP/1.1\r\nHost: ${host}\r\n${END}`,
  ]),
];

/** Transfer codings; the status is 501. */
const UNSUPPORTED: readonly [string, string][] = [
  ...[
    "gzip",
    "identity",
    "xchunked",
    "chunked, chunked",
    "gzip, chunked",
    "chunked, gzip",
    "chunked;q=1",
    '"chunked"',
    "",
  ].map((coding): [string, string] => [
    `the Transfer-Encoding ${JSON.stringify(coding)}`,
    `POST PATH HTTP/1.1\r\n${HOST}Transfer-Encoding: ${coding}\r\n${END}0\r\n\r\n`,
  ]),
  [
    "Transfer-Encoding twice",
    `POST PATH HTTP/1.1\r\n${HOST}${"Transfer-Encoding: chunked\r\n".repeat(2)}${END}0\r\n\r\n`,
  ],
];

MALFORMED.push(
  ["two Content-Lengths", `POST PATH HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n${END}xx`],
  ...["1, 2", "1, 1", "+1", "-1", "0x1", "", "1 1"].map((length): [string, string] => [
    `the Content-Length ${JSON.stringify(length)}`,
    `POST PATH HTTP/1.1\r\n${HOST}Content-Length: ${length}\r\n${END}x`,
  ]),
  ["a space before the colon", `POST PATH HTTP/1.1\r\n${HOST}Content-Length : 1\r\n${END}x`],
  ["a first header that is folded", `GET PATH HTTP/1.1\r\n X: a\r\n${HOST}${END}`],
  ["an empty line before the request", `\r\nGET PATH HTTP/1.1\r\n${HOST}${END}`],
  ...["HTTP/1.10", "HTTP/1", "HTTP", "http/1.1", "XTTP/1.1", "HTTP/x.y"].map((version): [string, string] => [
    `the version ${version}`,
    `GET PATH ${version}\r\n${HOST}${END}`,
  ]),
  ["no version", `GET PATH\r\n${HOST}${END}`],
  ["HTTP/0.9 without a header", "GET PATH\r\n\r\n"],
  ["a fragment", `GET PATH# HTTP/1.1\r\n${HOST}${END}`],
  ["a fragment in the query", `GET PATH?a#b HTTP/1.1\r\n${HOST}${END}`],
  ["a target that begins with an asterisk", `GET *PATH HTTP/1.1\r\n${HOST}${END}`],
  ["the asterisk", `GET * HTTP/1.1\r\n${HOST}${END}`],
  ["a URL of another scheme", `GET ftp://localhost:1PATH HTTP/1.1\r\n${HOST}${END}`],
  ["a URL of another host", `GET SCHEME://other:1PATH HTTP/1.1\r\n${HOST}${END}`],
  ["a URL with a user", `GET SCHEME://u@localhost:1PATH HTTP/1.1\r\n${HOST}${END}`],
  ["a URL with a fragment", `GET SCHEME://localhost:1PATH#x HTTP/1.1\r\n${HOST}${END}`],
  ["a URL with two ports", `GET SCHEME://localhost:1:1PATH HTTP/1.1\r\n${HOST}${END}`],
  ["a malformed escape", `GET PATH%zz HTTP/1.1\r\n${HOST}${END}`],
  ["CONNECT", `CONNECT localhost:1 HTTP/1.1\r\n${HOST}${END}`],
);

const UNKNOWN_VERSIONS = ["HTTP/0.9", "HTTP/2.0", "HTTP/3.0"].map((version): [string, string] => [
  `the version ${version}`,
  `GET PATH ${version}\r\n${HOST}${END}`,
]);

const WELL_FORMED: readonly [string, string][] = [
  ["HTTP/1.1", `GET PATH HTTP/1.1\r\n${HOST}${END}`],
  ["HTTP/1.0 without a Host", "GET PATH HTTP/1.0\r\n\r\n"],
  ["a plain URL of this server", `GET SCHEME://LOCALHOST:1PATH HTTP/1.1\r\n${HOST}${END}`],
  ["a query", `GET PATH?a=%zz&b=c/d?e HTTP/1.1\r\n${HOST}${END}`],
  ["line ends of LF alone", `GET PATH HTTP/1.0\n\n`],
  ["a folded header", `GET PATH HTTP/1.1\r\n${HOST}X: a\r\n b\r\n${END}`],
  ["a later version of HTTP/1", `GET PATH HTTP/1.7\r\n${HOST}${END}`],
  ["two equal lengths", `GET PATH HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 1\r\n${END}x`],
  ["a head of 60 KiB", `GET PATH?${"q".repeat(60 * 1024)} HTTP/1.1\r\n${HOST}${END}`],
];

/** Both lengths; a coding that HTTP/1.0 has not. Go serves such a request. */
const UNCERTAIN: readonly [string, string][] = [
  ["both lengths", `GET PATH HTTP/1.1\r\n${HOST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  [
    "both lengths, the other first",
    `GET PATH HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
  ],
  [
    "a coding of HTTP/1.0",
    `GET PATH HTTP/1.0\r\n${HOST}Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
];
const NEXT = `GET PATH?next HTTP/1.1\r\n${HOST}${END}`;

for (const port of PORTS) {
  const [path, known] = KNOWN[port];
  const scheme = port === "authenticated" || port === "API" ? "https" : "http";
  const asked = (text: string) => ports.ask(port, text.replace("SCHEME", scheme).replaceAll("PATH", path));
  for (const [status, table] of [
    [400, MALFORMED],
    [501, UNSUPPORTED],
    [505, UNKNOWN_VERSIONS],
  ] as const) {
    describe(`${port}: a request is answered ${status} for`, () => {
      for (const [what, text] of table) test(what, async () => equal(statusOf(await asked(text)), status));
    });
  }
  describe(`${port}: a request whose end is uncertain is the last one of its connection, with`, () => {
    for (const [what, text] of UNCERTAIN) {
      test(what, async () => {
        const answers = await asked(text + NEXT);
        deepEqual([statusOf(answers), answers.split(/^HTTP\/1\.[01] /m).length - 1], [known, 1], answers);
      });
    }
  });
  describe(`${port}: a request is served with`, () => {
    for (const [what, text] of WELL_FORMED) test(what, async () => equal(statusOf(await asked(text)), known));
  });
}

test("a response names the version of its request; to a later one, and to one that is refused, it is HTTP/1.1", async () => {
  const versionFor = async (text: string): Promise<string> => (await ports.ask("read-only", text)).slice(0, 8);
  equal(await versionFor("GET /healthz HTTP/1.0\n\n"), "HTTP/1.0");
  equal(
    await versionFor(`GET /nothing HTTP/1.0\r\n${HOST}Connection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n`),
    "HTTP/1.0",
  );
  equal(await versionFor(`GET /healthz HTTP/1.1\r\n${HOST}${END}`), "HTTP/1.1");
  equal(await versionFor(`GET /healthz HTTP/1.7\r\n${HOST}${END}`), "HTTP/1.1");
  equal(await versionFor("GET healthz HTTP/1.0\n\n"), "HTTP/1.1");
});

test("a response to a malformed request says why, and is the last on its connection", async () => {
  const text = await ports.ask("read-only", `GET /# HTTP/1.1\r\n${HOST}\r\nGET /healthz HTTP/1.1\r\n${HOST}${END}`);
  match(text, /^HTTP\/1\.1 400 Bad Request\r\n[^]*Connection: close\r\n\r\n400 Bad Request: malformed request target$/);
});

describe("HTTP/2: a request is answered 400, or reset, for", () => {
  let certificates: Certificates;
  let server: SecurePort;
  before(async () => {
    certificates = await Certificates.create();
    server = await new SecurePort(certificates).open({ limits: { refusals: Infinity } });
  });
  after(async () => {
    await server.close();
    await certificates.remove();
  });
  const GOOD = { ":method": "GET", ":path": "/healthz", ":scheme": "https", ":authority": "localhost:1" };

  const statusOfHttp2 = async (headers: Record<string, string | undefined>): Promise<number | "reset"> => {
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, { ca: certificates.ca.pair.cert });
    session.on("error", () => undefined);
    const given: Record<string, string | undefined> = { ...GOOD, ...headers };
    const sent = Object.entries(given).filter(([, value]) => value !== undefined);
    const stream = session.request(Object.fromEntries(sent), { endStream: true });
    stream.resume();
    const status = await new Promise<number | "reset">((resolve) => {
      stream.on("response", (answer) => resolve(answer[":status"] ?? "reset")).on("error", () => undefined);
      stream.once("close", () => resolve("reset"));
    });
    session.destroy();
    return status;
  };

  const table: [string, Record<string, string | undefined>][] = [
    ["a fragment", { ":path": "/healthz#" }],
    ["an asterisk", { ":path": "*" }],
    ["a path without a slash under another scheme", { ":path": "*healthz", ":scheme": "x" }],
    ["another scheme", { ":scheme": "x" }],
    ["the scheme of a plain port", { ":scheme": "http" }],
    ["a whole URL as its path", { ":path": "https://localhost:1/healthz" }],
    ["a method with a blank", { ":method": "GET /pods" }],
    ["a method that is no token", { ":method": "G(T" }],
    ["an authority without a host", { ":authority": ":1" }],
    ["an authority with a user", { ":authority": "u@localhost:1" }],
    ["an authority with a path", { ":authority": "localhost:1/x" }],
    ["an authority with two ports", { ":authority": "localhost:1:2" }],
    ["a Host header of another host", { host: "other" }],
    ["a malformed Host header", { ":authority": undefined, host: "a/b" }],
    ["a malformed escape", { ":path": "/healthz%zz" }],
    ["CONNECT", { ":method": "CONNECT", ":path": undefined, ":scheme": undefined }],
  ];
  for (const [what, headers] of table) {
    test(what, async () => {
      const status = await statusOfHttp2(headers);
      ok(status === 400 || status === "reset", String(status));
    });
  }

  test("nothing else: a request with an equal Host header, or only with one, is served", async () => {
    equal(await statusOfHttp2({}), 200);
    equal(await statusOfHttp2({ host: "LOCALHOST:1" }), 200);
    equal(await statusOfHttp2({ ":authority": undefined, host: "localhost:1" }), 200);
  });
});
