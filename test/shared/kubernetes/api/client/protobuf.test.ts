// The client in protobuf: every verb against an API server that has it, and JSON with one without it.

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../../../../../src/shared/base/clock/clock.js";
import { createApiClient, type ConnectedClient } from "../../../../../src/shared/kubernetes/api/client/client.js";
import { isAlreadyExists, isGone, isNotFound } from "../../../../../src/shared/kubernetes/api/client/errors.js";
import {
  CONFIG_MAPS,
  LEASES,
  NODES,
  PODS,
  SERVICE_ACCOUNTS,
} from "../../../../../src/shared/kubernetes/api/client/kinds.js";
import { loadClientConfig } from "../../../../../src/shared/kubernetes/api/client/kubeconfig/load.js";
import type { WatchEvent } from "../../../../../src/shared/kubernetes/api/client/port.js";
import type { ConfigMap } from "../../../../../src/shared/kubernetes/api/objects.js";
import { enveloped } from "../../../../../src/shared/kubernetes/api/protobuf/objects.js";
import { FakeApi } from "../../../../fake-api/fake-api.js";
import { sendJson, sendStatus, type Answer } from "../../../../support/api-server.js";
import { keptLog, startRig } from "./client-kit.js";

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const MAP = { metadata: { name: "m", namespace: "default" } };
const map = (
  name: string,
  data: Record<string, string> = {},
): { metadata: { name: string; namespace: string }; data: Record<string, string> } => ({
  metadata: { ...MAP.metadata, name },
  data,
});

interface Rig extends AsyncDisposable {
  api: FakeApi;
  client: ConnectedClient;
}

async function startFake(): Promise<Rig> {
  const api = await FakeApi.start();
  const config = await loadClientConfig(await api.kubeconfig({ name: "admin", groups: ["system:masters"] }));
  const { log } = keptLog();
  const client = createApiClient({ config: { ...config, contentType: PROTOBUF }, clock: systemClock, log, qps: -1 });
  return {
    api,
    client,
    [Symbol.asyncDispose]: async () => {
      client.close();
      await api[Symbol.asyncDispose]();
    },
  };
}

describe("a server that has protobuf", () => {
  it("gets and sends it with every verb; patches are JSON", async () => {
    await using rig = await startFake();
    const { api, client } = rig;
    const ref = MAP.metadata;
    const made = await client.create(CONFIG_MAPS, map("m", { a: "1" }));
    equal(made.kind, "ConfigMap");
    deepEqual((await client.get(CONFIG_MAPS, ref)).data, { a: "1" });
    deepEqual((await client.update(CONFIG_MAPS, { ...made, data: { a: "2" } })).data, { a: "2" });
    deepEqual((await client.patch(CONFIG_MAPS, ref, { data: { b: "3" } })).data, { a: "2", b: "3" });
    const { items, metadata } = await client.list(CONFIG_MAPS, {
      namespace: "default",
      fieldSelector: "metadata.name=m",
    });
    deepEqual([items[0]?.data, items[0]?.kind], [{ a: "2", b: "3" }, undefined]);
    match(metadata.resourceVersion ?? "", /^\d+$/);
    await client.delete(CONFIG_MAPS, ref, { preconditions: { uid: made.metadata.uid ?? "" } });
    const calls = api.calls.matching({ resource: "configmaps" });
    deepEqual(
      calls.map(({ verb, requestType, answerType }) => `${verb} ${requestType} ${answerType}`),
      [
        `create ${PROTOBUF} ${PROTOBUF}`,
        `get  ${PROTOBUF}`,
        `update ${PROTOBUF} ${PROTOBUF}`,
        `patch application/strategic-merge-patch+json ${PROTOBUF}`,
        `list  ${PROTOBUF}`,
        `delete ${PROTOBUF} ${PROTOBUF}`,
      ],
    );
  });

  it("gives tokens, and refusals with their reason", async () => {
    await using rig = await startFake();
    const { client } = rig;
    await client.create(SERVICE_ACCOUNTS, { metadata: { name: "s", namespace: "default" } });
    const request = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      metadata: {},
      spec: { audiences: [] },
    };
    const answer = await client.createSub<{ status: { token: string; expirationTimestamp: string } }>(
      SERVICE_ACCOUNTS,
      { namespace: "default", name: "s" },
      "token",
      request,
    );
    ok(answer.status.token.length > 100);
    match(answer.status.expirationTimestamp, /^\d{4}-.*Z$/);
    await rejects(client.get(PODS, MAP.metadata), (error) => isNotFound(error));
    await client.create(CONFIG_MAPS, map("m"));
    await rejects(client.create(CONFIG_MAPS, map("m")), (error) => isAlreadyExists(error));
  });

  it("watches: the whole set with its end, changes, known versions as bookmarks, and an expired version", async () => {
    await using rig = await startFake();
    const { api, client } = rig;
    await client.create(CONFIG_MAPS, map("m1"));
    const seen: string[] = [];
    const stop = new AbortController();
    const shown = (event: WatchEvent<ConfigMap>): string =>
      event.type === "BOOKMARK" ? `BOOKMARK ${event.initialEventsEnd}` : `${event.type} ${event.object.metadata.name}`;
    const options = { namespace: "default", fieldSelector: "metadata.name=m1", signal: stop.signal };
    let known = "";
    const isKnown = (_uid: string, version: string): boolean => version === known;
    for await (const event of client.watch(CONFIG_MAPS, { ...options, sendInitialEvents: true, isKnown })) {
      seen.push(shown(event));
      if (seen.length === 2) {
        const patched = api.store.put("configmaps", { ...map("m1", { a: "1" }) });
        known = patched.metadata.resourceVersion ?? "";
      } else if (seen.length === 3) {
        api.store.put("configmaps", { ...map("m1", { a: "2" }) });
      } else if (seen.length === 4) await client.delete(CONFIG_MAPS, { namespace: "default", name: "m1" });
      else if (seen.length === 5) break;
    }
    deepEqual(seen, ["ADDED m1", "BOOKMARK true", "BOOKMARK false", "MODIFIED m1", "DELETED m1"]);
    api.store.compact();
    const expired = client.watch(CONFIG_MAPS, { ...options, resourceVersion: "1" })[Symbol.asyncIterator]();
    await rejects(expired.next(), (error) => isGone(error));
    deepEqual(
      [...new Set(api.calls.matching({ verb: "watch" }).map(({ answerType }) => answerType))],
      [`${PROTOBUF};stream=watch`],
    );
  });

  it("gets JSON for an object that the table of messages cannot carry", async () => {
    await using rig = await startFake();
    const lease = { metadata: { name: "l", namespace: "default" }, spec: { holderIdentity: "n", later: 1 } };
    equal((await rig.client.create(LEASES, lease as never)).spec?.holderIdentity, "n");
    const [call] = rig.api.calls.matching({ resource: "leases" });
    deepEqual([call?.requestType, call?.answerType], ["application/json", PROTOBUF]);
  });
});

describe("a server that has none", () => {
  const config = { contentType: PROTOBUF };
  const node = { kind: "Node", apiVersion: "v1", metadata: { name: "n" } };

  it("responds in JSON, and gets its next bodies in JSON", async () => {
    await using rig = await startRig({ config, answer: (_, response) => sendJson(response, node) });
    deepEqual(await rig.client.get(NODES, { name: "n" }), node);
    deepEqual(await rig.client.update(NODES, node as never), node);
    const [get, put] = rig.server.seen;
    equal(get?.headers["accept"], `${PROTOBUF},application/json`);
    equal(put?.headers["content-type"], "application/json");
    deepEqual(rig.lines, ["The API server responds in JSON; sending requests in JSON, too"]);
  });

  const refusing =
    (code: number): Answer =>
    ({ headers, url }, response) => {
      const isProtobuf = code === 415 ? headers["content-type"] === PROTOBUF : headers["accept"]?.includes(PROTOBUF);
      if (isProtobuf === true) sendStatus(response, code, "", "no protobuf here");
      else if (!url.includes("watch"))
        sendJson(response, url.includes("nodes/n") ? node : { kind: "NodeList", metadata: {}, items: [node] });
      else response.end(`${JSON.stringify({ type: "ADDED", object: node })}\n`);
    };

  it("refuses it (406): the call is sent again in JSON, and so are all later ones", async () => {
    await using rig = await startRig({ config, answer: refusing(406) });
    deepEqual((await rig.client.list(NODES)).items, [node]);
    deepEqual(await rig.client.get(NODES, { name: "n" }), node);
    deepEqual(
      rig.server.seen.map(({ headers }) => headers["accept"]),
      [`${PROTOBUF},application/json`, "application/json", "application/json"],
    );
    match(rig.lines[0] ?? "", /does not accept protobuf/);
  });

  it("refuses it for a watch (406)", async () => {
    await using rig = await startRig({ config, answer: refusing(406) });
    const seen: string[] = [];
    const signal = new AbortController().signal;
    for await (const event of rig.client.watch(NODES, { signal })) seen.push(event.type);
    deepEqual(seen, ["ADDED"]);
  });

  it("refuses a body in it (415): the body is sent again in JSON", async () => {
    await using rig = await startRig({ config, answer: refusing(415) });
    deepEqual(await rig.client.update(NODES, node as never), node);
    deepEqual(
      rig.server.seen.map(({ headers }) => headers["content-type"]),
      [PROTOBUF, "application/json"],
    );
  });

  it("refuses a patch (415): that says nothing about protobuf", async () => {
    await using rig = await startRig({
      config,
      answer: (_, response) => sendStatus(response, 415, "", "no such patch"),
    });
    await rejects(rig.client.patch(NODES, { name: "n" }, {}), { status: 415 });
    equal(rig.server.seen.length, 1);
  });
});

for (const [what, body, text] of [
  ["no envelope", Buffer.from("{}"), "no envelope"],
  ["half an object", enveloped("v1", "Node", Buffer.from([0x0a, 0x20])), "longer than its message"],
  ["another kind", enveloped("v1", "NodeList", Buffer.alloc(0)), "v1 NodeList was not expected"],
] as const) {
  it(`a body with ${what} is an invalid response; the error names the request`, async () => {
    await using rig = await startRig({
      config: { contentType: PROTOBUF },
      answer: (_, response) => {
        response.setHeader("content-type", PROTOBUF);
        response.end(body);
      },
    });
    await rejects(rig.client.get(NODES, { name: "n" }), (error: Error) => {
      equal(error.name, "ApiConnectionError");
      match(error.message, new RegExp(`GET /api/v1/nodes/n.*${text}`));
      return true;
    });
    await rejects(rig.client.list(PODS), { name: "ApiConnectionError" });
  });
}
