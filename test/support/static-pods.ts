// Helpers for tests of static pods on a real node: short manifests, a pod of /pods, logs as `kubectl logs` prints them.
// A bare CRI client shows the runtime's own view.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ApiContainerStatus } from "../../src/shared/kubernetes/api/pod-status.js";
import type { Container, PodSpec } from "../../src/shared/kubernetes/api/pod.js";
import {
  ListContainersRequest,
  ListPodSandboxRequest,
  type Container as CriContainer,
  type PodSandbox,
} from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { call, connectCri } from "../../tools/standalone/cri.js";
import { testImage, waitFor, type PodView, type TestNode } from "../harness/node.js";

/** Generous: the machine is shared. */
export const PATIENCE_MS = 60_000;
export const NODE_NAME = "testnode";
const POD_UID = "io.kubernetes.pod.uid";

/** Ends at once when asked to stop. */
export const IDLE = "trap 'exit 0' TERM; while true; do sleep 3600 & wait $!; done";
/** As IDLE, but it exits with 3: a pod of it that the kubelet ends is Failed, not Succeeded. */
export const IDLE_FAILING = IDLE.replace("exit 0", "exit 3");

export interface ManifestOptions {
  metadata?: Record<string, unknown>;
  /** Fields of the spec beside its containers. */
  spec?: Partial<PodSpec>;
}

/** A container that runs `script` in a shell. */
export function shell(name: string, script: string, fields: Partial<Container> = {}): Container {
  return { name, image: testImage(), command: ["sh", "-c", script], ...fields };
}

/** A container that prints what `script` prints, then `END`, and stays. */
export function reporter(name: string, script: string, fields: Partial<Container> = {}): Container {
  return shell(name, `${script}\necho END\n${IDLE}`, fields);
}

export function manifest(name: string, containers: Container[], { metadata = {}, spec = {} }: ManifestOptions = {}) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...metadata },
    spec: { containers, terminationGracePeriodSeconds: 2, dnsPolicy: "Default" as const, ...spec },
  };
}

/** The pod that the manifest `name` makes; undefined while there is none. */
export function podOf(pods: readonly PodView[], name: string): PodView | undefined {
  return pods.find(({ metadata }) => metadata.name === `${name}-${NODE_NAME}`);
}

export function statusOf(pod: PodView | undefined, container: string): ApiContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = pod?.status ?? {};
  return [...initContainerStatuses, ...containerStatuses].find(({ name }) => name === container);
}

export function conditionsOf(pod: PodView): Record<string, string> {
  return Object.fromEntries((pod.status?.conditions ?? []).map(({ type, status }) => [type, status]));
}

/** Waits until the pod of manifest `name` is there and `condition` holds for it; returns that pod. */
export async function waitForPod(
  node: TestNode,
  name: string,
  condition: (pod: PodView) => boolean,
  what: string,
): Promise<PodView> {
  let seen: PodView | undefined;
  return await waitFor(
    async () => {
      seen = podOf(await node.pods(), name);
      return seen !== undefined && condition(seen) ? seen : undefined;
    },
    {
      what: `pod ${name}: ${what}`,
      timeoutMs: PATIENCE_MS,
      intervalMs: 50,
      lastSeen: () => JSON.stringify(seen?.status),
    },
  );
}

export async function waitGone(node: TestNode, name: string): Promise<void> {
  await node.waitFor((pods) => podOf(pods, name) === undefined, {
    what: `pod ${name} to be removed`,
    timeoutMs: PATIENCE_MS,
  });
}

export interface LogLine {
  time: string;
  stream: string;
  tag: string;
  text: string;
}

export function logDirectory(node: TestNode, pod: PodView): string {
  const { name, namespace, uid } = pod.metadata;
  return join(node.kubelet.podLogs, `${namespace}_${name}_${uid}`);
}

/** The lines of one log file; a line that is not in CRI format fails the test. */
export async function logLines(node: TestNode, pod: PodView, container: string, restart = 0): Promise<LogLine[]> {
  const text = await readFile(join(logDirectory(node, pod), container, `${restart}.log`), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(?:Z|[+-]\d\d:\d\d)) (stdout|stderr) ([FP]) (.*)$/.exec(line);
      assert.ok(parts, `not a line in CRI format: ${JSON.stringify(line)}`);
      const [, time = "", stream = "", tag = "", rest = ""] = parts;
      return { time, stream, tag, text: rest };
    });
}

/** Output of a {@link reporter}, once it is complete. */
export async function report(node: TestNode, name: string, container: string, restart = 0): Promise<string[]> {
  const pod = await waitForPod(node, name, (seen) => statusOf(seen, container)?.state.running !== undefined, "running");
  return await waitFor(
    async () => {
      const lines = (await logLines(node, pod, container, restart)).map(({ text }) => text);
      const end = lines.lastIndexOf("END");
      return end < 0 ? undefined : lines.slice(0, end);
    },
    { what: `the report of ${name}/${container}`, timeoutMs: PATIENCE_MS, intervalMs: 50 },
  );
}

/** `KEY=value` lines of a report. */
export function values(lines: readonly string[]): Record<string, string> {
  const pairs = lines
    .filter((line) => line.includes("="))
    .map((line): [string, string] => {
      const at = line.indexOf("=");
      return [line.slice(0, at), line.slice(at + 1)];
    });
  return Object.fromEntries(pairs);
}

/** The runtime without the kubelet between. */
export class RuntimeView {
  readonly cri: ReturnType<typeof connectCri>;

  constructor(endpoint: string) {
    this.cri = connectCri(endpoint);
  }

  async sandboxes(uid: string): Promise<PodSandbox[]> {
    const request = ListPodSandboxRequest.fromPartial({ filter: { labelSelector: { [POD_UID]: uid } } });
    const { items } = await call<{ items: PodSandbox[] }>((done) => this.cri.runtime.listPodSandbox(request, done));
    return items.sort((a, b) => Number(b.createdAt - a.createdAt));
  }

  async containers(uid: string): Promise<CriContainer[]> {
    const request = ListContainersRequest.fromPartial({ filter: { labelSelector: { [POD_UID]: uid } } });
    const { containers } = await call<{ containers: CriContainer[] }>((done) =>
      this.cri.runtime.listContainers(request, done),
    );
    return containers.sort((a, b) => Number(b.createdAt - a.createdAt));
  }

  async stopSandbox(podSandboxId: string): Promise<void> {
    await call((done) => this.cri.runtime.stopPodSandbox({ podSandboxId }, done));
  }

  async removeContainer(containerId: string): Promise<void> {
    await call((done) => this.cri.runtime.removeContainer({ containerId }, done));
  }

  /** SIGKILL after `graceSeconds`; 0 is at once. */
  async stopContainer(containerId: string, graceSeconds: number): Promise<void> {
    await call((done) => this.cri.runtime.stopContainer({ containerId, timeout: BigInt(graceSeconds) }, done));
  }

  close(): void {
    this.cri.close();
  }
}

/** "containerd://ID" → "ID" */
export function idOf(status: ApiContainerStatus | undefined): string {
  const id = status?.containerID ?? "";
  assert.match(id, /^[a-z-]+:\/\/[0-9a-f]{64}$/);
  return id.slice(id.indexOf("://") + 3);
}
