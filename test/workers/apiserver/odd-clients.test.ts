// Requests that no kubectl sends, each answered as a server of 1.36 does: options that exclude each other, values that
// options do not have, forms of answers, conditions of writes.

import { deepEqual, equal, match } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ApiPort, type Reply } from "./api-port-kit.js";

const MAPS = "/api/v1/namespaces/default/configmaps";
const PODS = "/api/v1/namespaces/default/pods";
const map = (name: string, value = "1"): object => ({
  ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { of: "these" } }, data: { value } },
});
const META = "g=meta.k8s.io;v=v1";

describe("an odd client", () => {
  let api: ApiPort;
  let admin: { cert: string; key: string };
  const ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply> =>
    api.ask(admin, method, path, body, headers);
  const kindsOf = async (accept: string, path: string): Promise<unknown[]> => {
    const { status, text } = await ask("GET", path, undefined, { accept });
    const { kind, items = [] } = JSON.parse(text) as { kind: string; items?: { kind?: string; data?: unknown }[] };
    return [status, kind, items[0]?.kind, items[0]?.data !== undefined];
  };

  before(async () => {
    api = await ApiPort.open();
    admin = await api.client("admin");
    for (const name of ["a", "b", "c"]) equal((await ask("POST", MAPS, map(name))).status, 201);
  });
  after(async () => {
    await api[Symbol.asyncDispose]();
  });

  const refused: [query: string, status: number, message: RegExp][] = [
    ["resourceVersion=x", 400, /invalid resource version: .*strconv\.ParseUint/],
    ["resourceVersion=99999999", 504, /Too large resource version/],
    ["resourceVersionMatch=Exact", 422, /resourceVersionMatch is forbidden unless resourceVersion is provided/],
    ["resourceVersionMatch=Exact&resourceVersion=0", 422, /\\"exact\\" is forbidden for resourceVersion \\"0\\"/],
    ["resourceVersionMatch=Near&resourceVersion=1", 422, /Unsupported value: \\"Near\\"/],
    ["sendInitialEvents=true", 422, /sendInitialEvents is forbidden for list/],
    ["limit=many", 400, /ParseInt/],
    ["continue=x", 400, /invalid continue token/],
    ["fieldSelector=data.value%3D1", 400, /is not a known field selector/],
    ["labelSelector=%21%21", 400, /unable to parse requirement/],
    ["watch=1&resourceVersion=x", 500, /strconv\.ParseUint/],
    ["watch=1&resourceVersionMatch=NotOlderThan", 422, /forbidden for watch unless sendInitialEvents/],
    ["watch=1&sendInitialEvents=true", 422, /requires setting resourceVersionMatch to NotOlderThan/],
    ["watch=1&timeoutSeconds=soon", 400, /ParseInt/],
  ];
  for (const [query, status, message] of refused) {
    test(`gets ${status} for ${query}`, async () => {
      const reply = await ask("GET", `${MAPS}?${query}`);
      equal(reply.status, status);
      match(reply.text, message);
    });
  }

  test("reads a list in pages, whose versions agree, and no further one by another version", async () => {
    const page = async (query: string) => {
      const { text } = await ask("GET", `${MAPS}?limit=2&${query}`);
      return JSON.parse(text) as {
        metadata: { continue?: string; remainingItemCount?: number; resourceVersion: string };
        items: { metadata: { name: string } }[];
      };
    };
    const first = await page("");
    deepEqual([first.items.map(({ metadata }) => metadata.name), first.metadata.remainingItemCount], [["a", "b"], 1]);
    await ask("POST", MAPS, map("d"));
    const token = `continue=${first.metadata.continue ?? ""}`;
    const second = await page(token);
    deepEqual(
      second.items.map(({ metadata }) => metadata.name),
      ["c"],
    );
    equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
    equal((await ask("GET", `${MAPS}?limit=2&resourceVersion=5&${token}`)).status, 400);
    const old = await page(`resourceVersion=${first.metadata.resourceVersion}`);
    equal(old.metadata.remainingItemCount, 1);
    await ask("DELETE", `${MAPS}/d`);
  });

  test("watches from any version: what there is, then bookmarks of the end of the list and of the time", async () => {
    const typesOf = async (query: string): Promise<string[]> => {
      const { text } = await ask("GET", `${MAPS}?watch=1&${query}`);
      return [...text.matchAll(/^\{"type":"([A-Z]+)"/gm)].map(([, type = ""]) => type);
    };
    const all = ["ADDED", "ADDED", "ADDED"];
    deepEqual(await typesOf("timeoutSeconds=1"), all);
    deepEqual(await typesOf("timeoutSeconds=1&resourceVersion=0"), all);
    const initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    deepEqual(await typesOf(`timeoutSeconds=1&${initial}`), all);
    deepEqual(await typesOf(`timeoutSeconds=1&${initial}&allowWatchBookmarks=true`), [...all, "BOOKMARK"]);
    deepEqual(await typesOf("timeoutSeconds=3&allowWatchBookmarks=true"), [...all, "BOOKMARK"]);
    deepEqual(await typesOf("timeoutSeconds=1&resourceVersionMatch=NotOlderThan&sendInitialEvents=false"), []);
    deepEqual(await typesOf("timeoutSeconds=1&resourceVersion=99999999"), []);
    // One object has no watch: it is answered.
    equal((await ask("GET", `${MAPS}/a?watch=1`)).status, 200);
  });

  test("gets tables, metadata alone or whole objects, by the first of its choices that there is", async () => {
    const partial = `application/json;as=PartialObjectMetadataList;${META}`;
    for (const [accept, ...kinds] of [
      ["application/json", 200, "ConfigMapList", undefined, true],
      [`application/json;as=Table;${META},application/json`, 200, "Table", undefined, false],
      [partial, 200, "PartialObjectMetadataList", "PartialObjectMetadata", false],
      [
        `application/vnd.kubernetes.protobuf;as=Table;${META},${partial}`,
        200,
        "PartialObjectMetadataList",
        "PartialObjectMetadata",
        false,
      ],
      ["application/json;as=Chart;g=meta.k8s.io;v=v1,*/*", 200, "ConfigMapList", undefined, true],
      ["application/vnd.kubernetes.protobuf", 200, "ConfigMapList", undefined, true],
      ["text/html", 406, "Status", undefined, false],
    ] as const) {
      deepEqual(await kindsOf(accept, MAPS), kinds, accept);
    }
    equal(
      (await kindsOf(`application/json;as=PartialObjectMetadata;${META}`, `${MAPS}/a`))[1],
      "PartialObjectMetadata",
    );
    const { text } = await ask("GET", `${MAPS}?watch=1&timeoutSeconds=1`, undefined, { accept: partial });
    match(text, /^\{"type":"ADDED","object":\{"kind":"PartialObjectMetadata"/);
  });

  test("writes under its conditions only", async () => {
    const { text } = await ask("GET", `${MAPS}/a`);
    const { uid, resourceVersion } = (JSON.parse(text) as { metadata: Record<string, string> }).metadata;
    const options = (preconditions: object): object => ({ kind: "DeleteOptions", apiVersion: "v1", preconditions });
    const status = async (method: string, path: string, body?: unknown): Promise<number> =>
      (await ask(method, path, body)).status;
    equal(await status("DELETE", `${MAPS}/a`, options({ uid: "another" })), 409);
    equal(await status("DELETE", `${MAPS}/a`, options({ resourceVersion: "1" })), 409);
    equal(await status("DELETE", `${MAPS}/a?dryRun=All`, options({ uid, resourceVersion })), 200);
    equal(await status("DELETE", `${MAPS}/a?dryRun=Some`), 422);
    equal(await status("DELETE", `${MAPS}/a?propagationPolicy=Sometimes`), 422);
    equal(await status("DELETE", `${MAPS}/a?propagationPolicy=Foreground&dryRun=All`), 200);
    equal(await status("DELETE", `${MAPS}/a?gracePeriodSeconds=soon`), 400);
    equal(await status("GET", `${MAPS}/a`), 200);
    equal(await status("POST", `${MAPS}?dryRun=All`, map("dry")), 201);
    equal(await status("GET", `${MAPS}/dry`), 404);
    equal(await status("POST", `${MAPS}?fieldValidation=Loose`, map("dry")), 422);
    equal(await status("PUT", `${MAPS}/missing`, map("missing")), 404);
    equal(await status("POST", `${MAPS}/a`, map("a")), 405);
    equal(await status("POST", `${PODS}/web/unknown`, {}), 404);
    equal(await status("PUT", MAPS, map("a")), 405);
    equal(await status("DELETE", "/api/v1/configmaps"), 405);
    equal(await status("POST", "/api/v1/namespaces/default/services", { metadata: { name: "s" } }), 405);
    equal(await status("GET", "/apis/apps/v1/deployments"), 404);
  });

  test("applies under a manager's name only, and the fields of another are a conflict", async () => {
    const apply = (query: string, value: string): Promise<Reply> =>
      ask("PATCH", `${MAPS}/applied?${query}`, map("applied", value), {
        "content-type": "application/apply-patch+yaml",
      });
    equal((await apply("", "1")).status, 422);
    equal((await apply("fieldManager=one", "1")).status, 201);
    const { status, text } = await apply("fieldManager=two", "2");
    equal(status, 409);
    match(text, /"reason":"FieldManagerConflict"[^}]*"field":"\.data\.value"/);
    equal((await apply("fieldManager=two&force=true", "2")).status, 200);
  });

  test("deletes the objects that its selectors take, and no others", async () => {
    for (const name of ["x", "y"])
      await ask("POST", MAPS, { ...map(name), metadata: { name, labels: { of: "those" } } });
    equal(
      (await ask("DELETE", `${MAPS}?labelSelector=of%3Dthose&fieldSelector=metadata.name!%3Dx&dryRun=All`)).status,
      200,
    );
    equal((await ask("GET", `${MAPS}/y`)).status, 200);
    equal((await ask("DELETE", `${MAPS}?labelSelector=of%3Dthose&fieldSelector=metadata.name!%3Dx`)).status, 200);
    deepEqual([(await ask("GET", `${MAPS}/x`)).status, (await ask("GET", `${MAPS}/y`)).status], [200, 404]);
    equal((await ask("GET", `${MAPS}/a`)).status, 200);
  });
});
