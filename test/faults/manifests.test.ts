// Manifests from a fuzzer: no crash, no hang, one message each, and the good pods beside them are left alone.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { makeSources } from "../../src/main/pods/sources/start-sources.js";
import { createTasksPool } from "../../src/main/threads/tasks-pool.js";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import { ManifestError } from "../../src/shared/kubernetes/api/manifest/violation.js";
import { decodeManifest } from "../../src/workers/tasks/index.js";
import { keptLog, manifest, NO_EARLIER_PODS, temporaryFolder, until } from "../support/sources-kit.js";

const pool = createTasksPool({ heapMiB: 128, log: keptLog().log, clock: systemClock });
after(() => pool.close());

const FULL = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default", labels: { a: "b" }, annotations: { c: "d" } },
  spec: {
    hostNetwork: true,
    restartPolicy: "Always",
    volumes: [
      { name: "v", hostPath: { path: "/v", type: "Directory" } },
      { name: "e", emptyDir: { sizeLimit: "1Gi" } },
    ],
    tolerations: [{ key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 3 }],
    securityContext: { runAsUser: 1, sysctls: [{ name: "a.b", value: "1" }], seccompProfile: { type: "Unconfined" } },
    dnsConfig: { nameservers: ["1.1.1.1"], searches: ["a"], options: [{ name: "b", value: "c" }] },
    initContainers: [{ name: "i", image: "b", restartPolicy: "Always" }],
    containers: [
      {
        name: "main",
        image: "busybox:1",
        command: ["a"],
        env: [
          { name: "A", value: "b" },
          { name: "B", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        ],
        ports: [{ containerPort: 80, hostPort: 80, protocol: "TCP", hostIP: "127.0.0.1", name: "http" }],
        resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "100m" } },
        volumeMounts: [{ name: "v", mountPath: "/v", readOnly: true, subPath: "a" }],
        livenessProbe: {
          httpGet: { port: "http", path: "/", httpHeaders: [{ name: "a", value: "b" }] },
          periodSeconds: 3,
        },
        lifecycle: { preStop: { exec: { command: ["a"] } }, postStart: { sleep: { seconds: 1 } } },
        securityContext: { capabilities: { add: ["A"], drop: ["B"] }, privileged: false },
      },
    ],
  },
};

/** Decodes and checks what every outcome must look like; gives the one message, if any. */
function outcome(text: string | Uint8Array): string | undefined {
  const result = decodeManifest({ origin: { kind: "file", path: "/m" }, text, nodeName: "n" });
  if (result.error === undefined) {
    assert.equal(result.pods.length, 1);
    return undefined;
  }
  assert.deepEqual(result.pods, []);
  assert.ok(result.error.length > 0);
  const { message } = new ManifestError("/m", result.error);
  assert.ok(!message.includes("\n") && message.length < 5_000, message.slice(0, 200));
  return message;
}

function paths(value: unknown, at: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== "object" || value === null) return [at];
  return [
    at,
    ...Object.entries(value).flatMap(([key, item]) => paths(item, [...at, Array.isArray(value) ? Number(key) : key])),
  ];
}
function replaced(value: unknown, [step, ...rest]: (string | number)[], by: unknown): unknown {
  if (step === undefined) return by;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === step ? replaced(item, rest, by) : item));
  const record = value as Record<string, unknown>;
  return { ...record, [step]: replaced(record[step], rest, by) };
}

test("the whole pod is right to begin with", () => assert.equal(outcome(JSON.stringify(FULL)), undefined));

test("any value in any place", () => {
  fc.assert(
    fc.property(fc.constantFrom(...paths(FULL)), fc.jsonValue(), (path, by) => {
      outcome(JSON.stringify(replaced(FULL, path, by)));
    }),
    { numRuns: 1500 },
  );
});

test("truncated anywhere, as JSON and as YAML", () => {
  const json = JSON.stringify(FULL);
  for (let length = 0; length < json.length; length += 7) assert.notEqual(outcome(json.slice(0, length)), undefined);
  const yaml = manifest("web", "env: [{name: A, value: 'x'}]");
  for (let length = 0; length < yaml.length; length++) outcome(yaml.slice(0, length));
});

test("random bytes, random text, YAML soup", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => void outcome(bytes)),
    { numRuns: 400 },
  );
  const soup = fc.array(
    fc.constantFrom(
      "- ",
      ": ",
      "&a ",
      "*a ",
      "<<: ",
      "!!set ",
      "!!binary ",
      "{",
      "}",
      "[",
      "]",
      "\n",
      "  ",
      "|",
      ">",
      "'",
      '"',
      "#",
      "---\n",
      "...\n",
      "? ",
      "%YAML 1.2\n",
      "kind",
      "Pod",
      "~",
      "1e999",
      "0x",
      "__proto__",
    ),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(soup, (tokens) => void outcome(tokens.join(""))),
    { numRuns: 1500 },
  );
});

test("merge keys of a value that is not a mapping are the writer's fault", () => {
  for (const text of ["<<: ", "<<: x", "<<: [1]", "a: &a 1\n<<: *a"]) assert.notEqual(outcome(text), undefined);
});

test("hostile keys stay keys", () => {
  const text = manifest("web").replace("  name: web", '  name: web\n  annotations: {__proto__: "x", constructor: "y"}');
  outcome(text);
  outcome(`{"apiVersion":"v1","kind":"Pod","__proto__":{"spec":1},"metadata":{"name":"a"}}`);
  assert.equal(({} as Record<string, unknown>)["x"], undefined);
});

/** Files that are expensive on purpose. */
const bombs: [string, string][] = [
  [
    "aliases",
    Array.from(
      { length: 30 },
      (_, index) =>
        `k${index}: &k${index} [${Array.from({ length: 10 }, () => (index === 0 ? "x" : `*k${index - 1}`)).join(",")}]`,
    ).join("\n"),
  ],
  [
    "merge keys",
    Array.from({ length: 30 }, (_, index) =>
      index === 0 ? "k0: &k0 {a: 1}" : `k${index}: &k${index} {<<: [${`*k${index - 1},`.repeat(9)}]}`,
    ).join("\n"),
  ],
  ["brackets", "[".repeat(1_000_000)],
  ["braces", "{".repeat(200_000)],
  ["many keys", Array.from({ length: 100_000 }, (_, index) => `k${index}: v`).join("\n")],
  ["indentation", Array.from({ length: 3_000 }, (_, index) => `${" ".repeat(index)}k:`).join("\n")],
  ["dashes", "- ".repeat(100_000)],
  ["anchors", `x: [${Array.from({ length: 50_000 }, (_, index) => `&a${index} 1`).join(",")}]`],
];

test(
  "bombs beside a good pod: it runs, each bomb gets one message in bounded time, the pool works on",
  { timeout: 110_000 },
  async (t) => {
    const folder = await temporaryFolder(t);
    for (const [name, text] of bombs) await writeFile(join(folder, `${name}.yaml`), text);
    await writeFile(join(folder, "good.yaml"), manifest("good"));
    const { log, errors } = keptLog();
    const changes: string[] = [];
    const sources = makeSources({
      earlier: NO_EARLIER_PODS,
      onManifests: () => undefined,
      shorten: () => false,
      staticPodPath: folder,
      nodeName: "n",
      preventAPIReferences: true,
      tasks: pool,
      log,
      clock: systemClock,
      loop: {
        onPodChange: ({ kind, pod }) => changes.push(`${kind} ${pod.metadata.name}`),
        onSourcesSeen: () => undefined,
        onStaticSourcesSeen: () => undefined,
      },
    });
    sources.start();
    t.after(() => sources.stop());
    await until("all files judged", () => sources.allSourcesSeen(), 100_000);
    assert.deepEqual(changes, ["add good-n"]);
    assert.equal(
      errors().length,
      bombs.length,
      errors()
        .map((one) => one.slice(0, 200))
        .join("\n"),
    );
    await writeFile(join(folder, "later.yaml"), manifest("later"));
    await until("a later pod", () => changes.includes("add later-n"));
  },
);
