// Objects and readers that were made to break the server, through its port: what is refused, and that others are
// served afterwards.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { after, before, beforeEach, describe, test } from "node:test";
import { READER_SHARE } from "../../../src/workers/apiserver/doors/reader-share.js";
import { MAX_TERMS } from "../../../src/workers/apiserver/objects/selectors.js";
import { MAX_OBJECT_BYTES } from "../../../src/workers/apiserver/store/batch.js";
import { waitFor } from "../../../tools/standalone/wait.js";
import { ApiPort, type Reply } from "./api-port-kit.js";

type Pair = Awaited<ReturnType<ApiPort["client"]>>;

const EVENTS = "/api/v1/namespaces/default/events";
const MAPS = "/api/v1/namespaces/default/configmaps";
const PODS = "/api/v1/namespaces/default/pods";
/** Nothing is sent first. */
const WATCH = "/api/v1/namespaces/kube-system/configmaps?watch=1&timeoutSeconds=600";
const APPLY = { "content-type": "application/apply-patch+yaml" };
const MERGE = { "content-type": "application/merge-patch+json" };
const YAML = { "content-type": "application/yaml" };
const map = (name: string, data: unknown = { value: "1" }): object => ({
  ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data },
});
const pod = (name: string): object => ({
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name } },
  spec: { containers: [{ name: "app", image: "busybox" }] },
});

describe("hostile objects and readers", () => {
  let api: ApiPort;
  let admin: Pair;
  let reader: Pair;
  let count = 0;
  const isServed = async (): Promise<void> => {
    equal((await api.ask(admin, "POST", MAPS, map(`after-${count++}`))).status, 201);
  };

  before(async () => {
    api = await ApiPort.open();
    [admin, reader] = [await api.client("admin"), await api.client("reader")];
    equal((await api.ask(admin, "POST", MAPS, map("kept"))).status, 201);
    equal((await api.ask(admin, "POST", PODS, pod("web"))).status, 201);
  });
  beforeEach(isServed);
  after(async () => {
    await isServed();
    await api[Symbol.asyncDispose]();
  });

  test("integers beyond 2^53 in fields that the kind does not have are read and dropped", async () => {
    const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: large}\nother: 12345678901234567890\n";
    equal((await api.ask(admin, "POST", MAPS, text, YAML)).status, 201);
    const applied = JSON.stringify({ ...map("large2"), other: 1 }).replace(":1}", ":12345678901234567890}");
    equal((await api.ask(admin, "PATCH", `${MAPS}/large2?fieldManager=x`, applied, APPLY)).status, 201);
    for (const name of ["large", "large2"]) {
      const { text: stored } = await api.ask(admin, "GET", `${MAPS}/${name}`);
      equal(stored.includes('"other"'), false, stored);
    }
  });

  test("a text that YAML repeats by an alias is not more than a body may be", async () => {
    const data = Array.from({ length: 20_000 }, (_, at) => `  k${at}: *text`).join("\n");
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\nother: &text "${"x".repeat(1e6)}"\ndata:\n${data}\n`;
    equal((await api.ask(admin, "POST", MAPS, text, YAML)).status, 400);
  });

  test("a body of a million levels is refused, in every type and verb", async () => {
    const deep = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kept"},"a":${"[".repeat(1e6)}${"]".repeat(1e6)}}`;
    const asked: [method: string, path: string, type: string][] = [
      ["POST", MAPS, "application/json"],
      ["PUT", `${MAPS}/kept`, "application/json"],
      ["PATCH", `${MAPS}/kept`, "application/merge-patch+json"],
      ["PATCH", `${MAPS}/kept`, "application/strategic-merge-patch+json"],
      ["PATCH", `${MAPS}/kept?fieldManager=x`, "application/apply-patch+yaml"],
      ["DELETE", `${MAPS}/kept`, "application/json"],
    ];
    for (const [method, path, type] of asked) {
      equal((await api.ask(admin, method, path, deep, { "content-type": type })).status, 400, type);
    }
  });

  test("an object that grows with each patch is refused at its limit", async () => {
    const event = { metadata: { name: "grows" }, involvedObject: { kind: "Pod", namespace: "default" } };
    equal((await api.ask(admin, "POST", EVENTS, event)).status, 201);
    const part = "x".repeat(MAX_OBJECT_BYTES / 3);
    const replies: Reply[] = [];
    for (const field of ["message", "reason", "action", "reportingInstance"]) {
      replies.push(await api.ask(admin, "PATCH", `${EVENTS}/grows`, { [field]: part }, MERGE));
    }
    deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 413, 413],
    );
    match(replies[2]?.text ?? "", /"reason":"RequestEntityTooLarge"/);
  });

  test("config maps have the keys and the size that a volume can have", async () => {
    for (const key of ["..", "../x", "a/b", "", "a b"]) {
      const { status, text } = await api.ask(admin, "POST", MAPS, map("keys", { [key]: "1" }));
      equal(status, 422, key);
      match(text, /a valid config key must consist of/);
    }
    equal((await api.ask(admin, "POST", MAPS, map("size", { a: "x".repeat(1024 * 1024 + 1) }))).status, 422);
    equal((await api.ask(admin, "POST", MAPS, map("proto", { ["__proto__"]: "1", constructor: "2" }))).status, 201);
    const { data } = JSON.parse((await api.ask(admin, "GET", `${MAPS}/proto`)).text) as { data: object };
    deepEqual(Object.entries(data), [
      ["__proto__", "1"],
      ["constructor", "2"],
    ]);
  });

  test("a field of another type than its kind's is refused as a decoder does", async () => {
    const rows: [object, RegExp][] = [
      [
        { metadata: { annotations: { a: 5 } } },
        /cannot unmarshal number into Go struct field ObjectMeta\.metadata\.annotations of type string/,
      ],
      [{ metadata: { annotations: { a: { b: "c" } } } }, /cannot unmarshal object/],
      [{ metadata: { labels: ["a"] } }, /cannot unmarshal array into .* of type map\[string\]string/],
      [{ metadata: { labels: "a" } }, /cannot unmarshal string/],
      [{ metadata: { finalizers: [5] } }, /cannot unmarshal number/],
      [{ metadata: { ownerReferences: {} } }, /of type \[\]OwnerReference/],
      [{ spec: { activeDeadlineSeconds: "5" } }, /of type int64/],
      [{ spec: { activeDeadlineSeconds: 1.5 } }, /of type int64/],
      [{ spec: { tolerations: [{ key: true }] } }, /cannot unmarshal bool/],
      [{ spec: [] }, /cannot unmarshal array .* of type PodSpec/],
    ];
    for (const [patch, expected] of rows) {
      const { status, text } = await api.ask(admin, "PATCH", `${PODS}/web`, patch, MERGE);
      equal(status, 400, text);
      match(text.replaceAll('\\"', '"'), expected);
    }
    equal((await api.ask(admin, "POST", MAPS, map("types", { a: 1 }))).status, 400);
  });

  test("managedFields of a client do not count", async () => {
    const made = pod("managed") as { metadata: Record<string, unknown> };
    made.metadata["managedFields"] = [{ manager: "x", fieldsV1: { "f:spec": { "f:containers": { "k:no": {} } } } }];
    equal((await api.ask(admin, "POST", PODS, made)).status, 201);
    const patch = { metadata: { labels: { a: "b" } } };
    const { status, text } = await api.ask(admin, "PATCH", `${PODS}/managed`, patch, MERGE);
    equal(status, 200, text);
    ok(!text.includes("managedFields"));
  });

  test("a name of unknown fields that is as long as the body does not become a header", async () => {
    const body = { ...map("warned"), ["n".repeat(1024 * 1024)]: 1 };
    equal((await api.ask(admin, "POST", MAPS, body)).status, 201);
  });

  test("a pod with a grace of all time can be deleted", async () => {
    equal((await api.ask(admin, "POST", PODS, pod("eternal"))).status, 201);
    const query = `gracePeriodSeconds=${Number.MAX_SAFE_INTEGER}`;
    const { status, text } = await api.ask(admin, "DELETE", `${PODS}/eternal?${query}`);
    equal(status, 200, text);
  });

  describe("a reader", () => {
    const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const sessions: ClientHttp2Session[] = [];
    const session = (pair: Pair): ClientHttp2Session => {
      const made = connectHttp2(`https://127.0.0.1:${api.port}`, { ca: api.ca, ...pair });
      made.on("error", () => undefined);
      sessions.push(made);
      return made;
    };
    const statusOf = (stream: ClientHttp2Stream): Promise<number> => {
      stream.on("error", () => undefined);
      return new Promise((resolve) => {
        stream.once("response", (headers) => resolve(Number(headers[":status"])));
        stream.once("close", () => resolve(0));
      });
    };
    const release = async (): Promise<void> => {
      for (const one of sessions.splice(0)) one.destroy();
      await waitFor(async () => (await api.ask(reader, "GET", MAPS)).status === 200, { what: "the readers' places" });
    };

    test("gets no more watches than readers may have, and an administrator gets one", async () => {
      const statuses: number[] = [];
      const asked = READER_SHARE.watches + 20;
      for (let made = 0; made < asked; made += 100) {
        const one = session(reader);
        const size = Math.min(100, asked - made);
        const watch = (): Promise<number> => statusOf(one.request({ ":path": WATCH }));
        statuses.push(...(await Promise.all(Array.from({ length: size }, watch))));
      }
      equal(statuses.filter((status) => status === 200).length, READER_SHARE.watches);
      equal(statuses.filter((status) => status === 429).length, 20);
      equal(await statusOf(session(admin).request({ ":path": WATCH })), 200);
      await release();
    });

    test("that sends bodies slowly keeps no body of an administrator out", async () => {
      const one = session(reader);
      const slow = Array.from({ length: READER_SHARE.requests + 20 }, () =>
        one.request({
          ":method": "POST",
          ":path": REVIEWS,
          "content-type": "application/json",
          "content-length": "100",
        }),
      );
      const refused = slow.map(statusOf);
      deepEqual(await Promise.all(refused.slice(READER_SHARE.requests)), Array<number>(20).fill(429));
      await isServed();
      await release();
    });

    test("sends no body that is larger than a review", async () => {
      const body = `spec: {${"a: {".repeat(20_000)}`;
      equal((await api.ask(reader, "POST", REVIEWS, body, YAML)).status, 413);
    });

    test("gets a review of what it sends, whatever its groups are", async () => {
      for (const spec of [null, 5, "x", [], { groups: [{ toString: 1 }, null] }]) {
        ok((await api.ask(reader, "POST", REVIEWS, { spec })).status < 500);
      }
    });

    test("that does not read its responses gets no further ones, and an administrator does", async () => {
      const value = "x".repeat(1024 * 1024);
      for (let at = 0; at < 8; at++)
        equal((await api.ask(admin, "POST", MAPS, map(`big-${at}`, { value }))).status, 201);
      // Windows of HTTP/2 that are never given back.
      const statuses: number[] = [];
      for (let at = 0; at < 12; at++) {
        const stream = session(reader).request({ ":path": MAPS });
        statuses.push(await statusOf(stream));
        stream.pause();
      }
      const served = statuses.filter((status) => status === 200).length;
      ok(served >= 1 && served <= 2 + READER_SHARE.unsent / (8 * value.length), statuses.join());
      equal(statuses.filter((status) => status === 429).length, statuses.length - served);
      equal((await api.ask(admin, "GET", MAPS)).status, 200);
      await release();
    });

    test("keeps its places after many requests of one connection", async () => {
      const one = session(reader);
      for (let at = 0; at < 2 * READER_SHARE.requests; at++) {
        const stream = one.request({ ":path": "/api" });
        equal(await statusOf(stream), 200);
        stream.resume();
        await new Promise((resolve) => stream.once("close", resolve));
      }
      await release();
    });

    test("gets no list whose selectors have more conditions than the limit", async () => {
      const query = (terms: number): string => `labelSelector=${Array<string>(terms).fill("!a").join()}`;
      equal((await api.ask(reader, "GET", `${MAPS}?${query(MAX_TERMS)}`)).status, 200);
      equal((await api.ask(reader, "GET", `${MAPS}?${query(MAX_TERMS + 1)}`)).status, 400);
      equal((await api.ask(reader, "GET", `${MAPS}?watch=1&${query(MAX_TERMS + 1)}`)).status, 400);
    });

    test("selects by labels that objects have, not by what they inherit", async () => {
      const { text } = await api.ask(reader, "GET", `${MAPS}?labelSelector=constructor`);
      deepEqual((JSON.parse(text) as { items: unknown[] }).items, []);
    });
  });
});
