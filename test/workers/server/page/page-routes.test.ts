// The routes of the status page over real sockets: their limits, headers, methods, and the check of the host's name.

import assert from "node:assert/strict";
import { request, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { subresourcesOf } from "../../../../src/workers/server/auth/attributes.js";
import { Feed } from "../../../../src/workers/server/page/feed.js";
import { loopbackHandler } from "../../../../src/workers/server/page/loopback-page.js";
import { pageRoutes } from "../../../../src/workers/server/page/page-routes.js";
import { plainServer } from "../../../../src/workers/server/ports/listener.js";
import { silentLog } from "../../../support/silent.js";

const LOG = silentLog;
const feed = (key: string): Feed => new Feed([{ everyMs: 1000, read: () => new Map([[key, "true"]]) }], systemClock);

describe("the routes of the status page", () => {
  let server: Server;
  let port: number;

  before(async () => {
    const routes = pageRoutes({
      document: () => Promise.resolve({ html: Buffer.from("<!doctype html>"), policy: "script-src 'sha256-x'" }),
      node: feed("node"),
      images: feed("images"),
      host: feed("host"),
      pod: (namespace, name) => feed(`${namespace}/${name}`),
      configz: () => ({ plain: "{}", withOrigins: '{"origins":{}}' }),
      logs: (_request, response) => void response.end("log"),
      clock: systemClock,
    });
    server = plainServer(loopbackHandler(routes, LOG), systemClock, LOG).server as Server;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ({ port } = server.address() as AddressInfo);
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  function ask(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const asked = request({ host: "127.0.0.1", port, path, headers, method }, resolve);
      asked.once("error", reject);
      asked.end();
    });
  }

  test("the document has its own policy, and data have one that forbids everything", async () => {
    const page = await ask("/ui/");
    page.resume();
    assert.equal(page.statusCode, 200);
    assert.equal(page.headers["content-security-policy"], "script-src 'sha256-x'");
    for (const path of ["/ui/config", "/ui/logs/default/web/app"]) {
      const { headers } = (await ask(path)).resume();
      assert.equal(headers["content-security-policy"], "default-src 'none'; sandbox", path);
      assert.equal(headers["x-content-type-options"], "nosniff", path);
      assert.equal(headers["access-control-allow-origin"], undefined, path);
    }
  });

  test("/ leads to the page, and /ui to /ui/ behind any prefix", async () => {
    assert.equal((await ask("/")).resume().headers.location, "/ui/");
    assert.equal((await ask("/ui")).resume().headers.location, "ui/");
  });

  test("a stream sends its entries as an event", async () => {
    for (const [path, key] of [
      ["node", "node"],
      ["images", "images"],
      ["host", "host"],
      ["pods/kube-system/dns", "kube-system/dns"],
    ] as const) {
      const response = await ask(`/ui/stream/${path}`);
      assert.equal(response.headers["content-type"], "text/event-stream");
      const [first] = (await response.take(1).toArray()) as Buffer[];
      assert.equal(first?.toString(), `data:[["${key}",true]]\n\n`);
    }
  });

  test("streams beyond the limit get 429, and places become free again", async () => {
    const open: IncomingMessage[] = [];
    for (let count = 0; count < 64; count++) open.push(await ask("/ui/stream/node"));
    assert.ok(open.every(({ statusCode }) => statusCode === 200));
    const refused = await ask("/ui/stream/node");
    refused.resume();
    assert.equal(refused.statusCode, 429);
    assert.equal(refused.headers["retry-after"], "10");
    for (const response of open) response.destroy();
    for (;;) {
      const again = await ask("/ui/stream/node");
      again.destroy();
      if (again.statusCode === 200) break;
    }
  });

  test("only names of this machine are served", async () => {
    for (const host of ["localhost", "LOCALHOST:10254", "127.0.0.1:1", "[::1]:10254"]) {
      assert.equal((await ask("/ui/", { host })).resume().statusCode, 200, host);
    }
    for (const host of ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1"]) {
      assert.equal((await ask("/ui/", { host })).resume().statusCode, 421, host);
    }
  });

  test("every method but GET is refused", async () => {
    for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      assert.equal((await ask("/ui/config", {}, method)).resume().statusCode, 405, method);
    }
  });

  test("all of it needs nodes/ui or nodes/proxy", () => {
    for (const path of ["/ui", "/ui/", "/ui/stream/node", "/ui/logs/default/web/app"]) {
      assert.deepEqual(subresourcesOf(path), ["ui", "proxy"], path);
    }
    assert.deepEqual(subresourcesOf("/uix"), ["proxy"]);
  });
});
