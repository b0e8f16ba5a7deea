// A cluster for fault tests: the kubelet on real containerd, and the fixture as API server. The tests break the
// fixture. One node and one fixture for a file.

import { FakeApi, type ApiCall, type ApiObject, type FakeApiOptions, type Fields } from "../fake-api/fake-api.js";
import { startNode, waitFor, type NodeOptions, type TestNode } from "../harness/node.js";
import { ApiKit } from "./api-kit.js";
import { isReady, NODE_NAME, statusOf } from "./cluster-node.js";

/** Long enough for a machine that is busy with other things. */
export const PATIENCE_MS = 60_000;
export const NODE_USER = `system:node:${NODE_NAME}`;
/** For faults: who calls is known by this before it is known by name. */
export const AGENT = { userAgent: "kubelet/" };

export interface FaultyCluster {
  fixture: FakeApi;
  /** As an administrator. */
  api: ApiKit;
  node: TestNode;
  stop(): Promise<void>;
}

export interface FaultyClusterOptions {
  api?: FakeApiOptions;
  node?: NodeOptions;
  /** Credentials of the kubelet; a kubeconfig with a client certificate, unless it is given. */
  join?: (fixture: FakeApi) => Promise<string[]>;
}

export async function startFaultyCluster({
  api: options,
  node,
  join,
}: FaultyClusterOptions = {}): Promise<FaultyCluster> {
  const fixture = await FakeApi.start({ nodeRestriction: true, bookmarkMs: 1000, ...options });
  try {
    const flags = join === undefined ? [`--kubeconfig=${await nodeKubeconfig(fixture)}`] : await join(fixture);
    const agent = await startNode({ ...node, nodeName: NODE_NAME, flags: [...(node?.flags ?? []), ...flags] });
    const api = await ApiKit.fromKubeconfig(await fixture.kubeconfig({ name: "admin", groups: ["system:masters"] }));
    return {
      fixture,
      api,
      node: agent,
      async stop() {
        await agent.stop();
        api.close();
        await fixture[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await fixture[Symbol.asyncDispose]();
    throw error;
  }
}

export function nodeKubeconfig(fixture: FakeApi): Promise<string> {
  return fixture.kubeconfig({ name: NODE_USER, groups: ["system:nodes"] });
}

/** A pod of the default namespace as the server has it. */
export function podIn(fixture: FakeApi, name: string): ApiObject | undefined {
  return fixture.store.get("pods", "default", name);
}

/** Deletes a pod with its grace, as `kubectl delete` does. */
export async function askToEnd({ api }: Pick<FaultyCluster, "api">, name: string): Promise<void> {
  await api.delete("pods", "default", name);
}

/** Waits until `holds` returns "" for the server's objects; a timeout reports its last text. */
export async function settled(what: string, holds: () => string | Promise<string>): Promise<void> {
  let problem = "";
  await waitFor(
    async () => {
      problem = await holds();
      return problem === "";
    },
    { what, timeoutMs: PATIENCE_MS, intervalMs: 50, lastSeen: () => problem },
  );
}

/** "" or the first of these pods that is not Ready in the API. */
export function unready(fixture: FakeApi, names: readonly string[]): string {
  const bad = names.find((name) => !isReady(podIn(fixture, name)));
  return bad === undefined ? "" : `${bad} is not Ready: ${JSON.stringify(statusOf(podIn(fixture, bad)))}`;
}

/** "" or the first of these pods that the API still has. */
export function still(fixture: FakeApi, names: readonly string[]): string {
  const left = names.find((name) => podIn(fixture, name) !== undefined);
  return left === undefined ? "" : `${left} is still there: ${JSON.stringify(podIn(fixture, left)?.status)}`;
}

/** Facts that a fault must not change: containers, their runs, start times. By pod. */
export function livesOf(fixture: FakeApi, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.map((name) => {
      const { containerStatuses, startTime } = statusOf(podIn(fixture, name));
      return [name, { startTime, containerStatuses }];
    }),
  );
}

export function isNodeReady(fixture: FakeApi): boolean {
  const conditions = (fixture.store.get("nodes", "", NODE_NAME)?.status?.["conditions"] ?? []) as Fields[];
  return conditions.some(({ type, status }) => type === "Ready" && status === "True");
}

/** The kubelet's calls since a moment. */
export function agentCalls(fixture: FakeApi, since: number): ApiCall[] {
  return fixture.calls.matching(AGENT, since);
}

/** Calls a minute, and which they were: "watch nodes: 3". */
export function rate(calls: readonly ApiCall[], seconds: number): { perMinute: number; kinds: string } {
  const counts = new Map<string, number>();
  for (const { verb, resource, subresource, code } of calls) {
    const key = `${verb} ${resource}${subresource === "" ? "" : `/${subresource}`} ${code}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const kinds = [...counts].sort(([, a], [, b]) => b - a).map(([key, count]) => `${key}: ${count}`);
  return { perMinute: Math.round((calls.length * 60) / seconds), kinds: kinds.join(", ") };
}
