// What upstream's API server does with objects of a kind, compared with kube-apiserver 1.36.2: rules of values, unknown
// fields, and what a client may ask of itself.

import { deepEqual, equal, match } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ApiPort } from "./api-port-kit.js";

const CORE = "/api/v1/namespaces/default";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const MERGE = { "content-type": "application/merge-patch+json" };
const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("the API of a node without a cluster", () => {
  let api: ApiPort;
  let admin: { cert: string; key: string };
  let reader: { cert: string; key: string };
  const create = (path: string, body: object) => api.ask(admin, "POST", path, body);

  before(async () => {
    api = await ApiPort.open();
    [admin, reader] = [await api.client("admin"), await api.client("reader")];
    equal((await create(`${CORE}/configmaps`, { metadata: { name: "kept" } })).status, 201);
  });
  after(() => api[Symbol.asyncDispose]());

  const secrets: [type: string, data: Record<string, string>, refusal: RegExp | undefined][] = [
    ["tls", { "tls.crt": "aGk=" }, /^Secret "bad" is invalid: data\[tls\.key\]: Required value$/],
    ["tls", { "tls.crt": "", "tls.key": "" }, undefined],
    ["basic-auth", { user: "eA==" }, /\[data\[username\]: Required value, data\[password\]: Required value\]$/],
    ["basic-auth", { password: "eA==" }, undefined],
    ["ssh-auth", { "ssh-privatekey": "" }, /data\[ssh-privatekey\]: Required value$/],
    ["dockerconfigjson", {}, /data\[\.dockerconfigjson\]: Required value$/],
    ["dockerconfigjson", { ".dockerconfigjson": base64('{"auths":') }, /Invalid value: "<secret contents redacted>"/],
    ["dockerconfigjson", { ".dockerconfigjson": base64('{"auths":{}}') }, undefined],
    ["dockercfg", { ".dockercfg": base64("[1]") }, /data\[\.dockercfg\]: Invalid value/],
    ["service-account-token", {}, /metadata\.annotations\[kubernetes\.io\/service-account\.name\]: Required value$/],
  ];
  for (const [index, [type, data, refusal]] of secrets.entries()) {
    test(`a secret of type ${type} with ${JSON.stringify(data)} is ${refusal === undefined ? "taken" : "refused"}`, async () => {
      const name = refusal === undefined ? `good-${index}` : "bad";
      const body = { apiVersion: "v1", kind: "Secret", metadata: { name }, type: `kubernetes.io/${type}`, data };
      const { status, text } = await create(`${CORE}/secrets`, body);
      equal(status, refusal === undefined ? 201 : 422, text);
      if (refusal !== undefined) match((JSON.parse(text) as { message: string }).message, refusal);
    });
  }

  const CONFIG_MAPS = `${CORE}/configmaps`;
  const PODS = `${CORE}/pods`;
  const metadata = (more: object): object => ({ metadata: { name: "bad", ...more } });
  const owner = { apiVersion: "v1", kind: "Pod", name: "x", uid: "u" };
  const APPLY = { "content-type": "application/apply-patch+yaml" };
  const JSON_PATCH = { "content-type": "application/json-patch+json" };
  const claim = (spec: object): object => ({ metadata: { name: "bad" }, spec });
  const review = (spec: object): object => ({ spec });
  const REVIEWS = "/apis/authorization.k8s.io/v1";
  const refused: [
    what: string,
    method: string,
    path: string,
    body: object,
    status: number,
    why: RegExp,
    type?: object,
  ][] = [
    [
      "a finalizer without a prefix",
      "POST",
      CONFIG_MAPS,
      metadata({ finalizers: ["x"] }),
      422,
      /finalizers\[0\].*nor is it fully/,
    ],
    [
      "an owner without a UID",
      "POST",
      CONFIG_MAPS,
      metadata({ ownerReferences: [{ ...owner, uid: "" }] }),
      422,
      /ownerReferences\.uid/,
    ],
    [
      "two controllers",
      "POST",
      CONFIG_MAPS,
      metadata({ ownerReferences: [1, 2].map(() => ({ ...owner, controller: true })) }),
      422,
      /Only one reference/,
    ],
    [
      "a label key with two slashes",
      "POST",
      CONFIG_MAPS,
      metadata({ labels: { "a/b/c": "1" } }),
      422,
      /a valid label key/,
    ],
    [
      "a label prefix with capitals",
      "POST",
      CONFIG_MAPS,
      metadata({ labels: { "A/b": "1" } }),
      422,
      /metadata\.labels/,
    ],
    [
      "a key of both maps",
      "POST",
      CONFIG_MAPS,
      { ...metadata({}), data: { a: "" }, binaryData: { a: "" } },
      422,
      /duplicate of key/,
    ],
    [
      "binary data without base64",
      "POST",
      CONFIG_MAPS,
      { ...metadata({}), binaryData: { a: "no base64!" } },
      400,
      /is no \[\]uint8/,
    ],
    [
      "a secret without base64",
      "POST",
      `${CORE}/secrets`,
      { ...metadata({}), data: { a: "eA=" } },
      400,
      /is no \[\]uint8/,
    ],
    [
      "a time of no form",
      "POST",
      LEASES,
      { ...metadata({}), spec: { renewTime: "yesterday" } },
      400,
      /\"yesterday\".* is no MicroTime/,
    ],
    [
      "a time of day 32",
      "POST",
      PODS,
      { ...metadata({ creationTimestamp: "2026-01-32T00:00:00Z" }), spec: {} },
      400,
      /is no Time/,
    ],
    [
      "a quantity of no form",
      "POST",
      PODS,
      { ...metadata({}), spec: { containers: [{ name: "a", image: "a", resources: { limits: { cpu: "abc" } } }] } },
      400,
      /is no Quantity/,
    ],
    [
      "a manager's name of 129 characters",
      "POST",
      `${CONFIG_MAPS}?fieldManager=${"x".repeat(129)}`,
      metadata({}),
      422,
      /fieldManager: Too long/,
    ],
    ["force without apply", "PATCH", `${CONFIG_MAPS}/kept?force=true`, {}, 422, /force: Forbidden/, MERGE],
    ["apply without a manager", "PATCH", `${CONFIG_MAPS}/kept`, {}, 422, /fieldManager: Required/, APPLY],
    [
      "apply without a kind",
      "PATCH",
      `${CONFIG_MAPS}/kept?fieldManager=m`,
      { apiVersion: "v1" },
      400,
      /invalid object type: v1, Kind=/,
      APPLY,
    ],
    [
      "apply of a new object without its name",
      "PATCH",
      `${CONFIG_MAPS}/new?fieldManager=m`,
      { apiVersion: "v1", kind: "ConfigMap" },
      400,
      /name must be provided/,
      APPLY,
    ],
    [
      "an unknown operation",
      "PATCH",
      `${CONFIG_MAPS}/kept`,
      [{ op: "frob", path: "/data" }],
      422,
      /rejected our request/,
      JSON_PATCH,
    ],
    [
      "an eviction under another name",
      "POST",
      `${PODS}/kept/eviction`,
      metadata({ name: "other" }),
      400,
      /does not match name in Eviction/,
    ],
    [
      "two policies of propagation",
      "DELETE",
      `${CONFIG_MAPS}/kept`,
      { orphanDependents: true, propagationPolicy: "Orphan" },
      422,
      /cannot be both set/,
    ],
    [
      "an access mode that is none",
      "POST",
      `${CORE}/persistentvolumeclaims`,
      claim({ accessModes: ["RWO"] }),
      422,
      /Unsupported value: \"RWO\"/,
    ],
    [
      "a claim of less than nothing",
      "POST",
      `${CORE}/persistentvolumeclaims`,
      claim({ resources: { requests: { storage: "-1" } } }),
      422,
      /greater than zero/,
    ],
    ["a review of nothing", "POST", `${REVIEWS}/selfsubjectaccessreviews`, review({}), 422, /exactly one of/],
    [
      "a review of both",
      "POST",
      `${REVIEWS}/selfsubjectaccessreviews`,
      review({ resourceAttributes: {}, nonResourceAttributes: { path: "/" } }),
      422,
      /in combination/,
    ],
    [
      "a review of no user",
      "POST",
      `${REVIEWS}/subjectaccessreviews`,
      review({ resourceAttributes: {} }),
      422,
      /user or group/,
    ],
    [
      "a patch of the UID",
      "PATCH",
      `${CONFIG_MAPS}/kept`,
      { metadata: { uid: "other" } },
      422,
      /metadata\.uid: Invalid value: "other": field is immutable/,
      MERGE,
    ],
    ["an empty term of a selector", "GET", `${CONFIG_MAPS}?labelSelector=a,,b`, {}, 400, /unable to parse/],
  ];
  for (const [what, method, path, body, status, why, type] of refused) {
    test(`${what} is refused as upstream refuses it`, async () => {
      const sent = method === "GET" ? undefined : body;
      const reply = await api.ask(admin, method, path, sent, (type ?? {}) as Record<string, string>);
      equal(reply.status, status, reply.text);
      match((JSON.parse(reply.text) as { message: string }).message, why);
    });
  }

  test("a refusal shows no bytes of a secret, since a refused edit by hand is logged", async () => {
    const body = { metadata: { name: "bad" }, data: { password: "hunter2!" } };
    const { status, text } = await create(`${CORE}/secrets`, body);
    equal(status, 400);
    equal(text.includes("hunter2"), false, text);
  });

  test("a day that its month does not have is no time", async () => {
    const body = { metadata: { name: "bad" }, spec: { renewTime: "2026-02-30T00:00:00.000000Z" } };
    equal((await create(LEASES, body)).status, 400);
  });

  test("null is the zero value in maps and lists, and no field elsewhere", async () => {
    const labels = { a: null, b: "1" };
    const config = { metadata: { name: "nulls", labels, annotations: null }, data: { a: null }, immutable: null };
    const made = await create(CONFIG_MAPS, config);
    equal(made.status, 201, made.text);
    const found = JSON.parse(made.text) as { metadata: object; data: object };
    deepEqual(found.data, { a: "" });
    const { labels: kept, annotations } = { annotations: undefined, ...(found.metadata as { labels: object }) };
    deepEqual([kept, annotations], [{ a: "", b: "1" }, undefined]);
    const container = { name: "app", image: "busybox", args: ["a", null], resources: { limits: { cpu: null } } };
    const pod = await create(PODS, { metadata: { name: "nulls" }, spec: { containers: [container], volumes: null } });
    equal(pod.status, 201, pod.text);
    const [app] = (JSON.parse(pod.text) as { spec: { containers: [typeof container] } }).spec.containers;
    deepEqual([app.args, app.resources.limits], [["a", ""], { cpu: "0" }]);
    const nameless = await create(PODS, { metadata: { name: "bad" }, spec: { containers: [null] } });
    equal(nameless.status, 422, nameless.text);
  });

  for (const path of [`/${CONFIG_MAPS}`, "/api//v1/configmaps", "/api/v1/namespaces//configmaps"]) {
    test(`${path} with an empty segment names nothing`, async () => {
      equal((await api.ask(admin, "GET", path)).status, 404);
    });
  }

  test("a slash at the end of a path is of no account", async () => {
    equal((await api.ask(admin, "GET", `${CONFIG_MAPS}/`)).status, 200);
  });

  test("a label selector compares integers", async () => {
    for (const [name, weight] of [
      ["w5", "5"],
      ["w12", "12"],
      ["wx", "x"],
    ] as const) {
      equal((await create(CONFIG_MAPS, { metadata: { name, labels: { weight } } })).status, 201);
    }
    const names = async (selector: string): Promise<string[]> => {
      const { text } = await api.ask(admin, "GET", `${CONFIG_MAPS}?labelSelector=${encodeURIComponent(selector)}`);
      return (JSON.parse(text) as { items: { metadata: { name: string } }[] }).items.map(
        ({ metadata: { name } }) => name,
      );
    };
    deepEqual(await names("weight>5"), ["w12"]);
    deepEqual(await names("weight<12"), ["w5"]);
    deepEqual(await names("weight > 4, weight < 13"), ["w12", "w5"]);
  });

  test("a lease whose numbers have no meaning is refused with each fault", async () => {
    const spec = { holderIdentity: "", leaseDurationSeconds: -1, leaseTransitions: -5 };
    const { status, text } = await create(LEASES, { metadata: { name: "bad" }, spec });
    equal(status, 422);
    for (const fault of [/holderIdentity: Required/, /-1: must be greater than 0/, /-5: must be greater than or/]) {
      match(text, fault);
    }
    equal((await create(LEASES, { metadata: { name: "good" }, spec: {} })).status, 201);
  });

  test("fields that the kind does not have are not stored, in no mode and at no depth", async () => {
    const metadata = { name: "odd", lables: { a: "b" } };
    const body = { metadata, data: { kept: "1" }, dta: { gone: "1" }, kind: "ConfigMap", apiVersion: "v1" };
    equal((await create(`${CORE}/configmaps?fieldValidation=Ignore`, body)).status, 201);
    const patch = { metadata: { annotations: { kept: "1" }, gone: 1 }, more: [1] };
    equal((await api.ask(admin, "PATCH", `${CORE}/configmaps/odd`, patch, MERGE)).status, 200);
    const { text } = await api.ask(admin, "GET", `${CORE}/configmaps/odd`);
    const found = JSON.parse(text) as { metadata: object; data: object };
    deepEqual(Object.keys(found).sort(), ["apiVersion", "data", "kind", "metadata"]);
    equal("lables" in found.metadata || "gone" in found.metadata, false);
    deepEqual(found.data, { kept: "1" });
    const container = { name: "app", image: "busybox", imagePullPolice: "Never", env: [{ name: "A", vlue: "1" }] };
    const pod = { metadata: { name: "odd" }, spec: { containers: [container], restart: "Never" } };
    equal((await create(`${CORE}/pods`, pod)).status, 201);
    const stored = (await api.ask(admin, "GET", `${CORE}/pods/odd`)).text;
    equal(/imagePullPolice|vlue|"restart"/.test(stored), false);
    equal((await create(`${CORE}/pods?fieldValidation=Strict`, pod)).status, 400);
  });

  test("the rules that a client asks for are those that it is held to", async () => {
    const path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    const rules = async (who: { cert: string; key: string }) => {
      const { status, text } = await api.ask(who, "POST", path, { spec: { namespace: "default" } });
      equal(status, 201, text);
      return (JSON.parse(text) as { status: { resourceRules: { verbs: string[]; resources: string[] }[] } }).status;
    };
    deepEqual((await rules(admin)).resourceRules, [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }]);
    const shown = (await rules(reader)).resourceRules;
    equal(
      shown.some(({ resources }) => resources.includes("secrets")),
      false,
    );
    for (const { resources } of shown.filter(({ verbs }) => verbs.includes("list"))) {
      const plural = resources[0] ?? "";
      const below = ["nodes", "pods"].includes(plural) ? "/api/v1" : undefined;
      if (below !== undefined) equal((await api.ask(reader, "GET", `${below}/${plural}`)).status, 200, plural);
    }
  });

  test("a subresource that is not served is 404 before its body is read", async () => {
    const { status, text } = await create(`${CORE}/serviceaccounts/default/token`, { spec: { audiences: ["a"] } });
    equal(status, 404);
    match(text, /the server could not find the requested resource/);
  });

  test("a verbose health check names its checks", async () => {
    equal((await api.ask(admin, "GET", "/livez?verbose")).text, "[+]ping ok\nlivez check passed\n");
    equal((await api.ask(admin, "GET", "/readyz")).text, "ok");
  });
});
