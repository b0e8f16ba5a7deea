import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import {
  ApiError,
  ApiConnectionError,
  isConflict,
  isGone,
} from "../../../../../src/shared/kubernetes/api/client/errors.js";
import { LEASES, NODES, PODS } from "../../../../../src/shared/kubernetes/api/client/kinds.js";
import type { WatchEvent } from "../../../../../src/shared/kubernetes/api/client/port.js";
import type { Pod } from "../../../../../src/shared/kubernetes/api/pod.js";
import { sendJson, sendStatus, type Answer } from "../../../../support/api-server.js";
import { freePort } from "../../../../support/free-port.js";
import { until } from "../../../../support/sources-kit.js";
import { certFolder, type CertFolder, type TestCa, type TestPair } from "../../../../support/test-certs.js";
import { startRig, type RigOptions } from "./client-kit.js";

let certs: CertFolder;
let ca: TestCa;
let serving: TestPair;
before(async () => {
  certs = await certFolder();
  ca = await certs.ca("cluster");
  serving = await ca.issue("/CN=kube-apiserver");
});
after(() => certs.remove());

const echo: Answer = (_seen, response) => sendJson(response, { metadata: { name: "it" } });
const PROTOCOLS = ["h2", "https", "http"] as const;
const rigOf = (protocol: (typeof PROTOCOLS)[number], options: RigOptions) =>
  startRig({
    protocol,
    pair: serving,
    ...options,
    config: { ...(protocol === "http" ? {} : { certificateAuthority: { data: ca.cert } }), ...options.config },
  });

for (const protocol of PROTOCOLS) {
  describe(`over ${protocol}`, () => {
    it("makes the request that each verb means", async () => {
      await using rig = await rigOf(protocol, { answer: echo });
      const { client, server } = rig;
      const ref = { namespace: "ns", name: "a" };
      const pod = { metadata: { namespace: "ns", name: "a" } } as unknown as Pod;
      await client.get(PODS, ref, { resourceVersion: "0" });
      await client.list(PODS, { fieldSelector: "spec.nodeName=n1", resourceVersion: "0", limit: 500 });
      await client.list(PODS, { namespace: "ns", continue: "x/y" });
      await client.create(PODS, pod);
      await client.createSub(PODS, ref, "eviction", { reason: "r" });
      await client.update(LEASES, { metadata: { namespace: "kube-node-lease", name: "n1" }, spec: {} });
      await client.patch(NODES, { name: "n1" }, { status: {} }, { subresource: "status" });
      await client.patch(PODS, ref, { a: 1 }, { type: "merge" });
      await client.patch(PODS, ref, [], { type: "json" });
      await client.delete(PODS, ref, { gracePeriodSeconds: 0, preconditions: { uid: "u" } });
      deepEqual(
        server.seen.map(({ method, url, headers, body }) =>
          [method, url, headers["content-type"] ?? "", body].join(" ").trim(),
        ),
        [
          "GET /api/v1/namespaces/ns/pods/a?resourceVersion=0",
          "GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn1&resourceVersion=0&limit=500",
          "GET /api/v1/namespaces/ns/pods?continue=x%2Fy",
          'POST /api/v1/namespaces/ns/pods application/json {"metadata":{"namespace":"ns","name":"a"},"apiVersion":"v1","kind":"Pod"}',
          'POST /api/v1/namespaces/ns/pods/a/eviction application/json {"reason":"r"}',
          'PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1 application/json {"metadata":{"namespace":"kube-node-lease","name":"n1"},"spec":{},"apiVersion":"coordination.k8s.io/v1","kind":"Lease"}',
          'PATCH /api/v1/nodes/n1/status application/strategic-merge-patch+json {"status":{}}',
          'PATCH /api/v1/namespaces/ns/pods/a application/merge-patch+json {"a":1}',
          "PATCH /api/v1/namespaces/ns/pods/a application/json-patch+json []",
          'DELETE /api/v1/namespaces/ns/pods/a application/json {"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":{"uid":"u"}}',
        ],
      );
      equal(server.connections, 1, "one connection for all");
      equal(server.seen[0]?.version, protocol === "h2" ? "2.0" : "1.1");
      equal(server.seen[0].headers["user-agent"], "kubelet/v1.36.0 (linux/amd64) kubernetes/nodelet");
    });

    it("gives the server's refusal as an ApiError", async () => {
      await using rig = await rigOf(protocol, {
        answer: (_seen, response) => sendStatus(response, 409, "Conflict", "the object has been modified"),
      });
      const failed = await rig.client.get(NODES, { name: "n1" }).catch((error: unknown) => error);
      ok(failed instanceof ApiError && isConflict(failed));
      deepEqual([failed.status, failed.reason, failed.message], [409, "Conflict", "the object has been modified"]);
    });

    it("does not decode an unread response, but reports its refusals", async () => {
      let status = 201;
      await using rig = await rigOf(protocol, {
        answer: (_request, response) => {
          if (status === 201) response.end("no JSON");
          else sendJson(response, { kind: "Status", code: 409, reason: "AlreadyExists", message: "is there" }, status);
        },
      });
      const node = { metadata: { name: "n1" } };
      equal(await rig.client.create(NODES, node, { unread: true }), node);
      status = 409;
      const failed = await rig.client.create(NODES, node, { unread: true }).catch((error: unknown) => error);
      ok(failed instanceof ApiError && failed.status === 409);
    });

    it("watches beside other calls, until the server ends it", async () => {
      // One list for each event of the watch, which stays open until the last.
      let listed = 0;
      let onLast: (() => void) | undefined;
      const last = new Promise<void>((resolve) => (onLast = resolve));
      await using rig = await rigOf(protocol, {
        answer: async ({ url }, response) => {
          if (!url.includes("watch=true")) {
            sendJson(response, { metadata: {}, items: null });
            if (++listed === 2) onLast?.();
            return;
          }
          const pod = { metadata: { name: "ä", resourceVersion: "7" } };
          const text = Buffer.from(
            [
              { type: "ADDED", object: pod },
              {
                type: "BOOKMARK",
                object: { metadata: { resourceVersion: "9", annotations: { "k8s.io/initial-events-end": "true" } } },
              },
            ]
              .map((each) => `${JSON.stringify(each)}\n`)
              .join(""),
          );
          for (const byte of text) {
            response.write(Buffer.from([byte]));
            if (byte === 0xc3) await new Promise(setImmediate);
          }
          await last;
          response.end();
        },
      });
      const events: WatchEvent<Pod>[] = [];
      const { signal } = new AbortController();
      for await (const event of rig.client.watch(PODS, { resourceVersion: "5", timeoutSeconds: 300, signal })) {
        events.push(event);
        deepEqual(await rig.client.list(NODES), { metadata: {}, items: [] });
      }
      deepEqual(events, [
        { type: "ADDED", object: { metadata: { name: "ä", resourceVersion: "7" } } },
        { type: "BOOKMARK", resourceVersion: "9", initialEventsEnd: true },
      ]);
      equal(
        rig.server.seen[0]?.url,
        "/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=300",
      );
      equal(rig.server.connections, protocol === "h2" ? 1 : 2);
    });

    it("closes a watch whose reader has stopped", async () => {
      const closed = new AbortController();
      await using rig = await rigOf(protocol, {
        answer: (_seen, response) => {
          response.once("close", () => closed.abort());
          response.write(`${JSON.stringify({ type: "ADDED", object: { metadata: { name: "a" } } })}\n`);
        },
      });
      const closing = once(closed.signal, "abort");
      for await (const { type } of rig.client.watch(PODS, { signal: new AbortController().signal })) {
        equal(type, "ADDED");
        break;
      }
      await closing;
    });

    it("ends a watch and a call with the signal's reason", async () => {
      await using rig = await rigOf(protocol, {
        answer: ({ url }, response) => {
          if (url.includes("watch")) response.write(`${JSON.stringify({ type: "ADDED", object: { metadata: {} } })}\n`);
        },
      });
      const stop = new AbortController();
      const reason = new Error("enough");
      const call = rig.client.get(NODES, { name: "n1" }, { signal: stop.signal });
      const watch = (async () => {
        for await (const event of rig.client.watch(PODS, { signal: stop.signal })) {
          ok(event);
          stop.abort(reason);
        }
      })();
      for (const each of await Promise.allSettled([watch, call])) {
        deepEqual(each, { status: "rejected", reason });
      }
    });

    it("reports a call without a response", async () => {
      await using rig = await rigOf(protocol, { limits: { timeoutMs: 30 } });
      await rejects(rig.client.get(NODES, { name: "n1" }), (error: Error) => {
        ok(error instanceof ApiConnectionError);
        match(
          error.message,
          /^GET \/api\/v1\/nodes\/n1: the API server http.* \(test.kubeconfig\): no response within 30 ms/,
        );
        return true;
      });
    });

    it("connects again after closeConnections(), and not after close()", async () => {
      await using rig = await rigOf(protocol, {
        answer: ({ url }, response) => (url.includes("hang") ? undefined : sendJson(response, {})),
      });
      const { client, server } = rig;
      await client.get(NODES, { name: "n1" });
      const broken = client.get(NODES, { name: "hang" });
      await until(() => server.seen.length >= 2);
      client.closeConnections();
      await rejects(broken, ApiConnectionError);
      await client.get(NODES, { name: "n1" });
      ok(server.connections >= 2);
      client.close();
      await rejects(client.get(NODES, { name: "n1" }), ApiConnectionError);
    });

    it("continues with a server that was restarted", async () => {
      // No connection of another process takes this port while no server listens.
      await using first = await rigOf(protocol, { answer: echo, port: await freePort() });
      await first.client.get(NODES, { name: "n1" });
      await first.server.close();
      await rejects(first.client.get(NODES, { name: "n1" }, { timeoutMs: 20_000 }), (error: Error) => {
        ok(error instanceof ApiConnectionError);
        match(error.message, /is the API server running\?/);
        return true;
      });
      await using second = await rigOf(protocol, { answer: echo, port: first.server.port });
      await first.client.get(NODES, { name: "n1" });
      equal(second.server.seen.length, 1);
    });
  });
}

describe("watch errors", () => {
  it("gives an ERROR event as an ApiError", async () => {
    const status = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version: 1 (5)" };
    await using rig = await startRig({
      answer: (_seen, response) => {
        response.write(`${JSON.stringify({ type: "ERROR", object: status })}\n`);
        response.end();
      },
    });
    const watching = rig.client.watch(PODS, { resourceVersion: "1", signal: new AbortController().signal });
    await rejects(watching[Symbol.asyncIterator]().next(), (error) => error instanceof ApiError && isGone(error));
  });
});

it("refuses names that would make another path", async () => {
  await using rig = await startRig({ answer: echo });
  await rejects(async () => rig.client.get(NODES, { name: ".." }), TypeError);
  await rejects(async () => rig.client.get(PODS, { name: "a" }), TypeError);
  await rig.client.get(NODES, { name: "a/b?c" });
  equal(rig.server.seen[0]?.url, "/api/v1/nodes/a%2Fb%3Fc");
});
