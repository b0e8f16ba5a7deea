// Every rpc of both services goes out under its own name, with its own messages, and comes back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ImageServiceService, RuntimeServiceService } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { OPERATIONS, verbOfPath, type CriMethod, type CriVerb } from "../../../../src/shared/kubernetes/cri/verbs.js";
import { until } from "../../../support/sources-kit.js";
import { collect, IMAGE, pair, podConfig, runPod, type Pair } from "./support.js";

const DEFINITIONS = { ...RuntimeServiceService, ...ImageServiceService };

/** A request that succeeds, per method; `{}` does for those not named. */
function requests({
  sandboxId,
  containerId,
}: {
  sandboxId: string;
  containerId: string;
}): Partial<Record<CriMethod, object>> {
  const container = { containerId };
  const sandbox = { podSandboxId: sandboxId };
  return {
    version: { version: "0.1.0" },
    runPodSandbox: { config: podConfig("second") },
    stopPodSandbox: sandbox,
    removePodSandbox: sandbox,
    podSandboxStatus: sandbox,
    createContainer: { ...sandbox, config: { metadata: { name: "other" }, image: { image: IMAGE } } },
    startContainer: container,
    stopContainer: { ...container, timeout: 5n },
    removeContainer: container,
    containerStatus: container,
    updateContainerResources: { ...container, linux: { cpuShares: 512n } },
    reopenContainerLog: container,
    execSync: { ...container, cmd: ["true"], timeout: 1n },
    exec: { ...container, cmd: ["sh"], stdout: true },
    attach: container,
    portForward: { ...sandbox, port: [80] },
    containerStats: container,
    podSandboxStats: sandbox,
    checkpointContainer: { ...container, location: "/tmp/checkpoint.tar" },
    updatePodSandboxResources: sandbox,
    imageStatus: { image: { image: IMAGE } },
    pullImage: { image: { image: "registry.test/app:2" } },
    removeImage: { image: { image: IMAGE } },
  };
}

/** Calls whatever kind of method it is; a stream is read to its end, an endless one to its first message. */
async function callAny(
  { client, fake }: Pair,
  method: CriMethod,
  request: object,
  containerId: string,
): Promise<object[]> {
  if (method === "getContainerEvents") {
    const stream = client.getContainerEvents({})[Symbol.asyncIterator]();
    const first = stream.next();
    await until(() => fake.state.eventListeners.size > 0);
    fake.exit(containerId, 0);
    const { value } = (await first) as { value: object };
    await stream.return?.();
    return [value];
  }
  const call = client[method] as (request: object) => Promise<object> | AsyncIterable<object>;
  const result = call(request);
  return Symbol.asyncIterator in result ? collect(result) : [await result];
}

for (const [name, definition] of Object.entries(DEFINITIONS)) {
  const method = name as CriMethod;
  const verb = verbOfPath(definition.path);
  test(`${verb} reaches the runtime and returns`, async (context) => {
    const both = await pair(context, {
      events: true,
      listStreams: true,
      cgroupDriver: "systemd",
      registry: { "registry.test/app:2": {} },
    });
    const ids = await runPod(both.client, "first");
    if (method === "startContainer") {
      const created = await both.client.createContainer({
        podSandboxId: ids.sandboxId,
        config: { metadata: { name: "next" }, image: { image: IMAGE } },
      });
      ids.containerId = created.containerId;
    }
    both.fake.calls.length = 0;
    both.records.length = 0;
    const replies = await callAny(both, method, requests(ids)[method] ?? {}, ids.containerId);
    assert.ok(replies.length > 0, "at least one reply");
    assert.deepEqual(
      both.fake.calls.map((call) => call.verb),
      [verb],
    );
    const [record] = both.records;
    assert.equal(record?.verb, verb);
    assert.equal(record.operation, OPERATIONS[verb]);
    assert.equal(record.error, undefined);
  });
}

test("the client has a method for every rpc and nothing else", async (context) => {
  const { client } = await pair(context);
  assert.deepEqual(Object.keys(client).sort(), [...Object.keys(DEFINITIONS), "close"].sort());
  const verbs = Object.values(DEFINITIONS).map(({ path }): CriVerb => verbOfPath(path));
  assert.deepEqual(Object.keys(OPERATIONS).sort(), verbs.sort());
});

test("requests and replies keep every kind of field", async (context) => {
  const { client, fake } = await pair(context);
  fake.settings.exec = () => ({ exitCode: 3, stdout: "out\u0000é", stderr: "err" });
  const { containerId, sandboxId } = await runPod(client, "fields");
  const reply = await client.execSync({ containerId, cmd: ["sh", "-c", "exit 3"], timeout: 2n });
  assert.equal(reply.exitCode, 3);
  assert.equal(Buffer.from(reply.stdout).toString(), "out\u0000é");
  assert.equal(Buffer.from(reply.stderr).toString(), "err");
  const { status } = await client.containerStatus({ containerId });
  assert.equal(typeof status?.createdAt, "bigint");
  assert.ok((status?.startedAt ?? 0n) > 1_600_000_000_000_000_000n, "nanoseconds arrive whole");
  const { items } = await client.listPodSandbox({ filter: { labelSelector: { "io.kubernetes.pod.name": "fields" } } });
  assert.deepEqual(
    items.map((item) => item.id),
    [sandboxId],
  );
});
