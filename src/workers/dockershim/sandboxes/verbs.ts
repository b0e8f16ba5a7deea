// Verbs of sandboxes.

import type Docker from "dockerode";
import { PodSandboxState, type PodSandbox } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { Verbs } from "../call.js";
import { inspected, listed } from "../engine/containers.js";
import { matchesId, matchesState } from "../filters.js";
import { criLabels, sandboxMetadata } from "../names.js";
import type { Shim } from "../shim.js";
import { metadataOf } from "./checkpoints.js";
import { runSandbox } from "./run-sandbox.js";
import { sandboxStatus } from "./status.js";
import { removeSandbox, stopSandbox } from "./stop-sandbox.js";

type SandboxVerb =
  | "runPodSandbox"
  | "stopPodSandbox"
  | "removePodSandbox"
  | "podSandboxStatus"
  | "listPodSandbox"
  | "updatePodSandboxResources";

export function sandboxVerbs(shim: Shim): Verbs<SandboxVerb> {
  const { engine } = shim;
  return {
    runPodSandbox: async ({ config, runtimeHandler }, signal) => ({
      podSandboxId: await runSandbox(shim, config, runtimeHandler, signal),
    }),

    async stopPodSandbox({ podSandboxId }, signal) {
      await stopSandbox(shim, podSandboxId, signal);
      return {};
    },

    async removePodSandbox({ podSandboxId }, signal) {
      await removeSandbox(shim, podSandboxId, signal);
      return {};
    },

    async podSandboxStatus({ podSandboxId, verbose }, signal) {
      const found = await inspected(engine, signal, podSandboxId, "podsandbox");
      const { State, Config } = found;
      return {
        status: await sandboxStatus(shim, found),
        info: verbose ? { info: JSON.stringify({ pid: State.Pid, image: Config.Image }) } : {},
        containersStatuses: [],
        timestamp: 0n,
      };
    },

    /** A sandbox has no limits of its own: the caller sets those of the pod's cgroup. */
    async updatePodSandboxResources({ podSandboxId }, signal) {
      await inspected(engine, signal, podSandboxId, "podsandbox");
      return {};
    },

    async listPodSandbox({ filter }, signal) {
      const labels = filter?.labelSelector ?? {};
      const found = await listed(engine, signal, { type: "podsandbox", labels });
      const items = found.flatMap((sandbox) => shim.ifKubernetes(() => listedSandbox(sandbox)));
      // Containers that were removed behind our back left a network that the kubelet's removal takes down.
      if (Object.keys(labels).length === 0)
        items.push(...(await withoutContainer(shim, new Set(found.map(({ Id }) => Id)))));
      return {
        items: items.filter(({ id, state }) => matchesId(id, filter?.id ?? "") && matchesState(state, filter?.state)),
      };
    },
  };
}

function listedSandbox({ Id, Names, State, Created, Labels }: Docker.ContainerInfo): PodSandbox {
  return {
    id: Id,
    metadata: sandboxMetadata(Names[0] ?? ""),
    state: State === "running" ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY,
    createdAt: BigInt(Created) * 1_000_000_000n,
    runtimeHandler: "",
    ...criLabels(Labels),
  };
}

async function withoutContainer({ checkpoints }: Shim, known: ReadonlySet<string>): Promise<PodSandbox[]> {
  const items: PodSandbox[] = [];
  for (const id of await checkpoints.ids()) {
    if (known.has(id)) continue;
    const checkpoint = await checkpoints.read(id);
    if (checkpoint === undefined) continue;
    items.push({
      id,
      metadata: metadataOf(checkpoint),
      state: PodSandboxState.SANDBOX_NOTREADY,
      createdAt: BigInt(checkpoint.createdAtNanos),
      labels: {},
      annotations: {},
      runtimeHandler: "",
    });
  }
  return items;
}
