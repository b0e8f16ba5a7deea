// The port of the API: who may do what, arbitrary bytes, bodies and watches beyond their bounds.
// @headline Server | A reader of the API changes nothing and sees no secret. | any bytes

import { equal, match, ok } from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { MAX_BEHIND_BYTES, MAX_WATCHES } from "../../../src/workers/apiserver/doors/watches.js";
import { waitFor } from "../../../tools/standalone/wait.js";
import { FORMS, METHODS, targetsTo } from "../server/ports/arbitrary-requests.js";
import { ApiPort } from "./api-port-kit.js";

const SECRET = "c2VzYW1l";
const PATHS = [
  "/api",
  "/apis",
  "/version",
  "/openapi/v3/api/v1",
  "/api/v1/namespaces",
  "/api/v1/secrets",
  "/api/v1/namespaces/default/secrets/key",
  "/api/v1/namespaces/default/configmaps/kept",
  "/api/v1/namespaces/default/pods/web/log",
  "/api/v1/namespaces/default/pods/web/exec",
  "/api/v1/namespaces/default/pods/web/portforward",
  "/api/v1/namespaces/default/pods/web/eviction",
  "/api/v1/nodes/node-1/proxy/configz",
  "/apis/metrics.k8s.io/v1beta1/nodes",
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
];
const pod = (name: string): object => ({
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name } },
  spec: { containers: [{ name: "app", image: "busybox" }] },
});
const map = (name: string, value = "1"): object => ({
  ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { value } },
});
/** Streams of one connection; it permits 250. */
const STREAMS = 200;
const MAPS = "/api/v1/namespaces/default/configmaps";

describe("the port of the API", () => {
  let api: ApiPort;
  let admin: { cert: string; key: string };
  let reader: { cert: string; key: string };
  const create = (path: string, body: object) => api.ask(admin, "POST", path, body);

  before(async () => {
    api = await ApiPort.open();
    [admin, reader] = [await api.client("admin"), await api.client("reader")];
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "key" }, data: { value: SECRET } };
    equal((await create("/api/v1/namespaces/default/secrets", secret)).status, 201);
    equal((await create(MAPS, map("kept"))).status, 201);
    for (const name of ["web", "hidden"]) {
      equal((await create("/api/v1/namespaces/default/pods", pod(name))).status, 201);
    }
  });
  after(async () => {
    await api[Symbol.asyncDispose]();
  });

  const revision = async (): Promise<string> => {
    const { text } = await api.ask(admin, "GET", "/api/v1/namespaces/default/configmaps?limit=1");
    return (JSON.parse(text) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
  };

  test("a client without a certificate of this node is refused on every path", async () => {
    for (const path of ["/version", "/api", "/api/v1/pods", "/nothing"]) {
      const answer = await api.raw(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      match(answer, /^HTTP\/1\.1 401 Unauthorized\r\n[^]*"reason":"Unauthorized"/);
    }
  });

  test("over loopback another Host gets 421", async () => {
    const bytes = "GET /version HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    match(await api.raw(bytes, admin), /^HTTP\/1\.1 421 /);
  });

  test("a reader changes nothing, runs nothing and sees no secret, by whatever bytes", async () => {
    const before = await revision();
    const seen = fc.record({ form: fc.nat(FORMS.length - 1), method: METHODS, target: targetsTo(PATHS) });
    const hidden = "GET /api/v1/namespaces/default/pods/hidden/log HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let served = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(seen, { minLength: 12, maxLength: 12 }), async (requests) => {
        const answers = await Promise.all(
          requests.map(({ form, method, target }) => {
            const bytes = FORMS[form]?.(`${method} ${target}`, "token", hidden) ?? "";
            return api.raw(bytes.replaceAll("node:1", "localhost"), reader);
          }),
        );
        for (const answer of answers) {
          if (/^HTTP\/1\.\d 200 /.test(answer)) served++;
          ok(!answer.includes(SECRET), answer);
        }
      }),
      { numRuns: 15 },
    );
    ok(served > 0);
    equal(await revision(), before);
    for (const line of api.asked) {
      ok(/^GET \/(containerLogs\/default\/web\/app|stats\/summary)(\?|$)/.test(line), line);
    }
  });

  test("a reader whose name leaves the file has no rights", async () => {
    equal((await api.ask(reader, "GET", "/api/v1/pods")).status, 200);
    await writeFile(api.files.readers, "other\n");
    await waitFor(async () => (await api.ask(reader, "GET", "/api/v1/pods")).status === 403, { what: "the refusal" });
    await writeFile(api.files.readers, "reader\n");
    await waitFor(async () => (await api.ask(reader, "GET", "/api/v1/pods")).status === 200, { what: "the rights" });
  });

  test("a reader who is added gets a kubeconfig, and one who is removed loses what is open", async () => {
    await writeFile(api.files.readers, "reader\nvisitor\n");
    const isThere = (): Promise<boolean> => api.client("visitor").then(Boolean, () => false);
    await waitFor(isThere, { what: "the kubeconfig" });
    const visitor = await api.client("visitor");
    equal((await api.ask(visitor, "GET", "/api/v1/pods")).status, 200);
    const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const ends = [MAPS, "/api/v1/pods"].map((path) => api.raw(get(`${path}?watch=1`), visitor));
    const session = connectHttp2(`https://127.0.0.1:${api.port}`, { ca: api.ca, ...visitor });
    session.on("error", () => undefined);
    const stream = session.request({ ":path": `${MAPS}?watch=1` });
    stream.on("error", () => undefined).resume();
    await new Promise((resolve) => stream.once("response", resolve));
    const ended = new Promise((resolve) => stream.once("close", resolve));
    // A file that goes and comes back with the same text counts again.
    await rm(api.files.readers);
    await Promise.all([...ends, ended]);
    await waitFor(async () => !(await isThere()), { what: "the end of the kubeconfig" });
    equal((await api.ask(visitor, "GET", "/api/v1/pods")).status, 403);
    await writeFile(api.files.readers, "reader\nvisitor\n");
    await waitFor(async () => (await api.ask(visitor, "GET", "/api/v1/pods")).status === 200, { what: "the rights" });
    session.destroy();
    await writeFile(api.files.readers, "reader\n");
  });

  test("a body that is too large, no object or no JSON is refused with a Status", async () => {
    const large = await api.ask(admin, "POST", MAPS, "x".repeat(4 * 1024 * 1024));
    equal(large.status, 413);
    match(large.text, /"reason":"RequestEntityTooLarge"/);
    for (const [body, type, status] of [
      ["[]", "application/json", 400],
      ["{", "application/json", 400],
      ["a: [", "application/yaml", 400],
      ["k8s\0garbage", "application/vnd.kubernetes.protobuf", 400],
      ["<a/>", "application/xml", 415],
    ] as const) {
      equal((await api.ask(admin, "POST", MAPS, body, { "content-type": type })).status, status, body);
    }
  });

  test("a pod that breaks the rules of manifests is refused with each fault", async () => {
    const bad = { apiVersion: "v1", kind: "Pod", metadata: { name: "bad" }, spec: { containers: [{ name: "A_" }] } };
    const { status, text } = await create("/api/v1/namespaces/default/pods", bad);
    equal(status, 422);
    match(text, /spec\.containers\[0\]\.image: Required value/);
    match(text, /spec\.containers\[0\]\.name: Invalid value/);
  });

  describe("a watch", () => {
    const head = (query: string): string =>
      `GET ${MAPS}?watch=1&${query} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;

    test("beyond the number of watches is refused", async () => {
      const sessions: ClientHttp2Session[] = [];
      const statuses: number[] = [];
      const one = (session: ClientHttp2Session): Promise<number> => {
        const stream = session.request({ ":path": `${MAPS}?watch=1&timeoutSeconds=600` });
        stream.on("error", () => undefined);
        return new Promise((resolve) => stream.once("response", (headers) => resolve(Number(headers[":status"]))));
      };
      for (let count = 0; count < MAX_WATCHES; count += STREAMS) {
        const session = connectHttp2(`https://127.0.0.1:${api.port}`, { ca: api.ca, ...admin });
        session.on("error", () => undefined);
        sessions.push(session);
        statuses.push(...(await Promise.all(Array.from({ length: STREAMS }, () => one(session)))));
      }
      equal(statuses.filter((status) => status === 200).length, MAX_WATCHES);
      match(await api.raw(head("timeoutSeconds=600"), admin), /^HTTP\/1\.1 429 /);
      for (const session of sessions) session.destroy();
      await waitFor(async () => (await api.raw(head("timeoutSeconds=1"), admin)).startsWith("HTTP/1.1 200 "), {
        what: "a place",
      });
    });

    test("whose client does not read ends, and others go on", async () => {
      const slow = api.connect(admin);
      slow.on("error", () => undefined);
      slow.write(head("timeoutSeconds=600"));
      await new Promise((resolve) => slow.once("data", resolve));
      slow.pause();
      const closed = new Promise((resolve) => slow.once("close", resolve));
      const value = "x".repeat(256 * 1024);
      // What the kernel takes comes before what the server holds.
      for (let round = 0; round * value.length < 6 * MAX_BEHIND_BYTES; round++) {
        await api.ask(admin, "PUT", `${MAPS}/kept`, map("kept", `${round}${value}`));
      }
      slow.resume();
      await closed;
      equal((await api.ask(admin, "PUT", `${MAPS}/kept`, map("kept"))).status, 200);
    });

    test("from a version that is gone, by the changes since, gets 410 as its event", async () => {
      match(await api.raw(head("resourceVersion=1"), admin), /"type":"ERROR",[^]*"reason":"Expired",[^]*"code":410/);
    });
  });
});
