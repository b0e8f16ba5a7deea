// A fake runtime with a client, for one test; both are gone when the test ends.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { systemClock, type Clock } from "../../../../src/shared/base/clock/clock.js";
import {
  createCriClient,
  type CriClient,
  type CriClientOptions,
} from "../../../../src/shared/kubernetes/cri/client.js";
import { startFakeCri, type FakeCri, type FakeCriOptions } from "../../../fake-cri/fake-cri.js";

type CallRecord = Parameters<NonNullable<CriClientOptions["onCall"]>>[0];

export const IMAGE = "nodelet.local/busybox:1";

export interface Pair {
  fake: FakeCri;
  client: CriClient;
  records: CallRecord[];
}

export async function socketPath(context: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "cri-"));
  context.after(() => rm(directory, { recursive: true, force: true }));
  return join(directory, "cri.sock");
}

export function clientOf(
  context: TestContext,
  endpoint: string,
  options: Partial<CriClientOptions> = {},
): { client: CriClient; records: CallRecord[] } {
  const records: CallRecord[] = [];
  const client = createCriClient({
    endpoint,
    runtimeRequestTimeoutMs: 10_000,
    clock: systemClock,
    onCall: (record) => records.push(record),
    ...options,
  });
  context.after(() => client.close());
  return { client, records };
}

export async function pair(
  context: TestContext,
  fakeOptions: Partial<FakeCriOptions> = {},
  clientOptions: Partial<CriClientOptions> = {},
): Promise<Pair> {
  const fake = await startFakeCri({ socketPath: await socketPath(context), ...fakeOptions });
  context.after(() => fake.stop());
  return { fake, ...clientOf(context, fake.endpoint, clientOptions) };
}

export function podConfig(name: string, attempt = 0) {
  return {
    metadata: { name, namespace: "default", uid: `uid-${name}`, attempt },
    logDirectory: `/var/log/pods/default_${name}_uid-${name}`,
    labels: { "io.kubernetes.pod.name": name, "io.kubernetes.pod.uid": `uid-${name}` },
  };
}

/** A pod with one running container. */
export async function runPod(client: CriClient, name: string): Promise<{ sandboxId: string; containerId: string }> {
  const sandboxConfig = podConfig(name);
  const { podSandboxId } = await client.runPodSandbox({ config: sandboxConfig });
  const { containerId } = await client.createContainer({
    podSandboxId,
    sandboxConfig,
    config: { metadata: { name: "app", attempt: 0 }, image: { image: IMAGE }, labels: sandboxConfig.labels },
  });
  await client.startContainer({ containerId });
  return { sandboxId: podSandboxId, containerId };
}

/** The real clock with every timer `factor` times as fast; the readings stay real. */
export function fastTimers(factor: number): Clock {
  return { ...systemClock, after: (ms, fn) => systemClock.after(ms / factor, fn) };
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
