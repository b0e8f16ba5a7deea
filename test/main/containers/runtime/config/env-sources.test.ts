// Environment variables made of config maps, secrets and files: upstream's rules, as a table.

import assert from "node:assert/strict";
import { test } from "node:test";
import { containerEnv, type EnvInput, type EnvSources } from "../../../../../src/main/containers/runtime/config/env.js";
import { ApiConnectionError, ApiError } from "../../../../../src/shared/kubernetes/api/client/errors.js";
import type { Container } from "../../../../../src/shared/kubernetes/api/pod.js";
import { c, makePod } from "../../../pods/status/fixtures.js";

const OBJECTS: Record<string, Record<string, string>> = {
  "configMap cm": { A: "a", B: "b", "dotted.key": "d" },
  "configMap other": { B: "other" },
  "secret s": { A: "secret-a", P: "p" },
};

const read = (kind: "configMap" | "secret") => (name: string) => {
  if (name === "away") return Promise.reject(new ApiConnectionError("the server does not respond"));
  const found = OBJECTS[`${kind} ${name}`];
  if (found !== undefined) return Promise.resolve(new Map(Object.entries(found)));
  return Promise.reject(new ApiError(404, "NotFound", `${kind.toLowerCase()} "${name}" not found`));
};
const FILE: Record<string, string> = { KEY: "from file" };
const sources: EnvSources = {
  configMap: read("configMap"),
  secret: read("secret"),
  fileValue: ({ key }) => Promise.resolve(FILE[key] ?? ""),
};

async function env(container: Partial<Container>, more: Partial<EnvInput> = {}): Promise<Record<string, string>> {
  const input = { pod: makePod(), container: c("a", container), podIPs: [], hostIPs: [], sources, ...more };
  return Object.fromEntries(await containerEnv(input));
}

const fromMap = (name: string, key: string, optional?: boolean) => ({
  valueFrom: { configMapKeyRef: { name, key, ...(optional !== undefined && { optional }) } },
});
const fromSecret = (name: string, key: string, optional?: boolean) => ({
  valueFrom: { secretKeyRef: { name, key, ...(optional !== undefined && { optional }) } },
});
const fromFile = (key: string, optional?: boolean) => ({
  valueFrom: { fileKeyRef: { volumeName: "v", path: "x/env", key, ...(optional !== undefined && { optional }) } },
});

test("variables get values from their sources", async () => {
  const rows: [what: string, Partial<Container>, Record<string, string>][] = [
    [
      "all keys, later sources win, with prefix",
      {
        envFrom: [
          { configMapRef: { name: "cm" } },
          { configMapRef: { name: "other" } },
          { prefix: "S_", secretRef: { name: "s" } },
        ],
      },
      { A: "a", B: "other", "dotted.key": "d", S_A: "secret-a", S_P: "p" },
    ],
    [
      "env wins over envFrom, whose values it may use",
      {
        envFrom: [{ configMapRef: { name: "other" } }],
        env: [
          { name: "X", value: "$(B)!" },
          { name: "B", value: "own" },
        ],
      },
      { B: "own", X: "other!" },
    ],
    [
      "one key",
      {
        env: [
          { name: "X", ...fromMap("cm", "A") },
          { name: "Y", ...fromSecret("s", "P") },
        ],
      },
      { X: "a", Y: "p" },
    ],
    [
      "values from objects are not expanded",
      {
        env: [
          { name: "A", value: "1" },
          { name: "X", ...fromMap("cm", "B") },
        ],
      },
      { A: "1", X: "b" },
    ],
    [
      "an absent optional object",
      { envFrom: [{ configMapRef: { name: "no", optional: true } }, { secretRef: { name: "no", optional: true } }] },
      {},
    ],
    [
      "an absent optional key",
      {
        env: [
          { name: "X", ...fromMap("cm", "none", true) },
          { name: "Y", ...fromMap("no", "k", true) },
        ],
      },
      {},
    ],
    [
      "an absent optional secret",
      {
        env: [
          { name: "X", ...fromSecret("no", "k", true) },
          { name: "Y", ...fromSecret("s", "k", true) },
        ],
      },
      {},
    ],
    ["a value beside a source wins", { env: [{ name: "X", value: "v", ...fromMap("no", "k") }] }, { X: "v" }],
    [
      "a key in a file",
      {
        env: [
          { name: "X", ...fromFile("KEY") },
          { name: "Y", ...fromFile("none", true) },
        ],
      },
      { X: "from file" },
    ],
    ["an envFrom without a source", { envFrom: [{}] }, {}],
  ];
  for (const [what, container, expected] of rows) assert.deepEqual(await env(container), expected, what);
});

test("errors that keep a container from its configuration", async () => {
  const rows: [Partial<Container>, RegExp][] = [
    [{ env: [{ name: "X", ...fromMap("cm", "k") }] }, /couldn't find key k in ConfigMap ns\/cm$/],
    [{ env: [{ name: "X", ...fromSecret("s", "k") }] }, /couldn't find key k in Secret ns\/s$/],
    [{ env: [{ name: "X", ...fromMap("no", "k") }] }, /configmap "no" not found$/],
    [{ env: [{ name: "X", ...fromMap("away", "k", true) }] }, /does not respond/],
    [{ envFrom: [{ secretRef: { name: "no" } }] }, /secret "no" not found$/],
    [{ envFrom: [{ secretRef: { name: "away", optional: true } }] }, /does not respond/],
    [{ env: [{ name: "X", ...fromFile("none") }] }, /environment variable key "none" not found in file "x\/env"$/],
  ];
  for (const [container, message] of rows) await assert.rejects(env(container), message);
});

test("files are not read with the gate off", async () => {
  const withoutFiles: EnvSources = { configMap: read("configMap"), secret: read("secret") };
  await assert.rejects(
    env({ env: [{ name: "X", ...fromFile("KEY") }] }, { sources: withoutFiles }),
    /a source this node does not support/,
  );
});

test("invalid variable names are left out and reported", async () => {
  const calls: unknown[] = [];
  const result = await env(
    {
      envFrom: [
        { prefix: "bad=", configMapRef: { name: "other" } },
        { prefix: "1 ok ", configMapRef: { name: "other" } },
      ],
    },
    { onInvalidNames: (...args) => calls.push(args) },
  );
  assert.deepEqual(result, { "1 ok B": "other" });
  assert.deepEqual(calls, [[["bad=B"], "configMap", "other"]]);
});
