// Everything on this machine that belongs to pods of a node, by UID. The fault tests compare it with the expected
// state. Read past the kubelet: from the runtime, the mount table, cgroups and directories.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ContainerState, PodSandboxState } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { cgroupFolders } from "../../tools/standalone/cgroups.js";
import { call, type CriConnection } from "../../tools/standalone/cri.js";
import { mountsBelow } from "../../tools/standalone/mounts.js";
import type { TestNode } from "../harness/node.js";

export interface RuntimeTraces {
  /** UID of every sandbox that is ready, one entry each. */
  readySandboxes: string[];
  /** Running containers by UID. */
  running: Map<string, string[]>;
  /** Every UID the runtime has anything of. */
  uids: Set<string>;
}

export async function runtimeTraces(cri: CriConnection): Promise<RuntimeTraces> {
  const { items } = await call<{ items: { state: PodSandboxState; labels: Record<string, string> }[] }>((done) =>
    cri.runtime.listPodSandbox({ filter: undefined }, done),
  );
  const { containers } = await call<{
    containers: { id: string; state: ContainerState; labels: Record<string, string> }[];
  }>((done) => cri.runtime.listContainers({ filter: undefined }, done));
  const uidOf = ({ labels }: { labels: Record<string, string> }): string => labels["io.kubernetes.pod.uid"] ?? "none";
  const running = new Map<string, string[]>();
  for (const one of containers) {
    if (one.state !== ContainerState.CONTAINER_RUNNING) continue;
    running.set(uidOf(one), [...(running.get(uidOf(one)) ?? []), one.id]);
  }
  return {
    readySandboxes: items.filter(({ state }) => state === PodSandboxState.SANDBOX_READY).map(uidOf),
    running,
    uids: new Set([...items, ...containers].map(uidOf)),
  };
}

/** UIDs that pods should have left traces of. */
export interface ExpectedTraces {
  /** UIDs of all pods. */
  pods: readonly string[];
  /** UIDs of pods that are not terminated: one ready sandbox and a cgroup each. */
  alive: readonly string[];
  /** UIDs of pods with a volume that is a mount: all of `alive`, unless it is given. */
  mounted?: readonly string[];
  /** The pod's UID, once for each container that should run. */
  containers: readonly string[];
}

/** "" or the first kind of trace that is not exactly as expected. */
export async function strayTraces(node: TestNode, cri: CriConnection, expected: ExpectedTraces): Promise<string> {
  const seen = await runtimeTraces(cri);
  const { rootDir } = node.kubelet;
  const found: [string, string[], readonly string[]][] = [
    ["pods with a ready sandbox", seen.readySandboxes, expected.alive],
    ["pods the runtime knows", [...seen.uids], expected.pods],
    ["running containers", [...seen.running].flatMap(([uid, ids]) => ids.map(() => uid)), expected.containers],
    ["pod directories", await readdir(join(rootDir, "pods")), expected.pods],
    [
      "pod records",
      (await readdir(join(rootDir, "nodelet", "pods"))).map((name) => name.split(".")[0] ?? ""),
      expected.pods,
    ],
    ["pods with mounts", unique(uidsIn(await mountsBelow(rootDir))), expected.mounted ?? expected.alive],
    ["pod cgroups", unique(uidsIn(await cgroupFolders(process.env["NODELET_CGROUP_ROOT"] ?? ""))), expected.alive],
  ];
  const wrong = found.find(([, is, should]) => is.sort().join() !== [...should].sort().join());
  if (wrong === undefined) return "";
  const [what, is, should] = wrong;
  return `${what}: ${is.join(" ")}, expected ${[...should].sort().join(" ")}`;
}

function uidsIn(paths: readonly string[]): string[] {
  return paths.map((path) => /\/pods?\/?([0-9a-f]{32})/.exec(path)?.[1]).filter((uid) => uid !== undefined);
}

function unique(list: readonly string[]): string[] {
  return [...new Set(list)];
}
