// The Host rule of every port without authentication: a web site cannot read it through a browser on this machine.

import { equal, match } from "node:assert/strict";
import { hostname, networkInterfaces } from "node:os";
import { after, before, describe, test } from "node:test";
import { EveryPort, type PortName } from "../every-port-kit.js";

const PATHS: Partial<Record<PortName, [string, number]>> = {
  "read-only": ["/metrics", 200],
  healthz: ["/healthz", 200],
  "status page": ["/", 302],
};
const OWN = ["localhost", "LOCALHOST:10255", "127.0.0.1", "127.0.0.1:10255", "127.0.1.1", "[::1]:10255"];
const OTHER = [
  "evil.example",
  "127.0.0.1.evil.example",
  "localhost.evil.example:80",
  "10.0.0.1",
  "0.0.0.0",
  "[::]",
  "",
];
/** An address of this machine beyond loopback. */
const OUTSIDE = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;

const get = (path: string, host: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
const statusOf = (text: string): number => Number(text.slice(9, 12));

describe("ports that listen on loopback", () => {
  let ports: EveryPort;
  before(async () => (ports = await EveryPort.open()));
  after(() => ports.close());

  for (const [port, [path, status]] of Object.entries(PATHS) as [PortName, [string, number]][]) {
    test(`${port} answers to names of this machine`, async () => {
      for (const host of OWN) equal(statusOf(await ports.ask(port, get(path, host))), status, host);
      equal(statusOf(await ports.ask(port, `GET ${path} HTTP/1.0\r\n\r\n`)), status, "no Host is no browser's");
    });

    test(`${port} answers 421 to every other name, on every path`, async () => {
      for (const host of OTHER) {
        equal(statusOf(await ports.ask(port, get(path, host))), 421, host);
        equal(statusOf(await ports.ask(port, get("/nothing", host))), 421, host);
      }
      match(await ports.ask(port, get(path, "evil.example")), /only to localhost, 127\.0\.0\.1 and \[::1\]\n$/);
    });
  }

  test("the authenticated port and the admin socket answer to any name", async () => {
    for (const port of ["authenticated", "admin socket"] as const)
      equal(statusOf(await ports.ask(port, get("/healthz", "node.example"))), 200, port);
  });
});

describe("ports that listen on every address", () => {
  let ports: EveryPort;
  before(async () => (ports = await EveryPort.open({ address: "0.0.0.0", healthzBindAddress: "::" })));
  after(() => ports.close());

  test("keep the rule for what arrives over loopback, where the node's own names are its names, too", async () => {
    for (const port of ["read-only", "healthz"] as const) {
      for (const host of ["localhost:1", "node-1", hostname(), "0.0.0.0:10255", "[::]:10255"])
        equal(statusOf(await ports.ask(port, get("/healthz", host))), 200, host);
      equal(statusOf(await ports.ask(port, get("/healthz", "evil.example"))), 421, port);
    }
  });

  test("answer to any name over other addresses", { skip: OUTSIDE === undefined && "only loopback here" }, async () => {
    for (const port of ["read-only", "healthz"] as const) {
      for (const host of [`${OUTSIDE}:10255`, "node-1.example.com"])
        equal(statusOf(await ports.ask(port, get("/healthz", host), OUTSIDE)), 200, host);
    }
  });
});
