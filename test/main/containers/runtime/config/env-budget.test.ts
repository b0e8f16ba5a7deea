// A container's environment stays within what a process can be started with, however often its pod names one object.

import assert from "node:assert/strict";
import { test } from "node:test";
import { containerEnv, type EnvSources } from "../../../../../src/main/containers/runtime/config/env.js";
import { CreateContainerConfigError } from "../../../../../src/main/model/container-config-error.js";
import type { Container } from "../../../../../src/shared/kubernetes/api/pod.js";
import { c, makePod } from "../../../pods/status/fixtures.js";

const MIB = 2 ** 20;

/** Sets of variables from one object, counted as its iterations. */
function envOf(keys: ReadonlyMap<string, string>, fields: Partial<Container>) {
  let reads = 0;
  const source = (): Promise<ReadonlyMap<string, string>> => {
    reads++;
    return Promise.resolve(keys);
  };
  const sources: EnvSources = { configMap: source, secret: source };
  const made = containerEnv({
    ...{ pod: makePod({}), container: c("a", fields), sources, podIPs: [], hostIPs: [], nodeName: "n" },
    nodeAllocatable: {},
  });
  return { made, reads: () => reads };
}

const tooLarge = (error: unknown): boolean =>
  error instanceof CreateContainerConfigError && /environment has more than 6291456 characters/.test(error.message);

test("a ConfigMap of many keys under thousands of prefixes is refused after a few of them", async () => {
  const keys = new Map(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, ""]));
  for (const prefix of [(at: number) => `p${at}`, () => ""]) {
    const envFrom = Array.from({ length: 5000 }, (_, at) => ({ prefix: prefix(at), configMapRef: { name: "m" } }));
    const { made, reads } = envOf(keys, { envFrom });
    await assert.rejects(made, tooLarge);
    assert.ok(reads() <= 5, `${reads()} sources were read`);
  }
});

test("thousands of variables with the same value of a megabyte are refused after a few of them", async () => {
  const keys = new Map([["k", "x".repeat(MIB)]]);
  const env = Array.from({ length: 5000 }, (_, at) => ({
    name: `V${at}`,
    valueFrom: { secretKeyRef: { name: "s", key: "k" } },
  }));
  const { made, reads } = envOf(keys, { env });
  await assert.rejects(made, tooLarge);
  assert.ok(reads() <= 7, `${reads()} values were read`);
});

test("an environment of thousands of variables is made", async () => {
  const keys = new Map(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, "x".repeat(64)]));
  const { made } = envOf(keys, {
    envFrom: [{ secretRef: { name: "s" } }, { prefix: "P", configMapRef: { name: "m" } }],
  });
  assert.equal((await made).size, 20_000);
});
