// A pod has its cgroup before its sandbox and as long as that runs; no cgroup is killed while its pod is healthy, and
// none is left behind.

import { PodSandboxState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { disk } from "../disk/machine-disk.js";
import { CGROUP_ROOT } from "../world/machine-files.js";
import { podNameOf } from "../world/pod-facts.js";
import type { World } from "../world/world.js";
import { mayStop } from "./healthy-runs-on.js";
import type { Broken, Invariant } from "./invariant.js";

const TIERS = ["", "/burstable", "/besteffort"].map((tier) => `${CGROUP_ROOT}/kubepods${tier}`);

export const podsHaveTheirCgroups: Invariant = {
  name: "pods have their cgroups, and none is left behind",
  promisedBy: "docs/node-protection.md",
  watch(world, broken) {
    const { cgroups, runtime } = world;
    if (cgroups === undefined) return undefined;
    runtime.watchers.add((verb, request) => {
      if (verb !== "RunPodSandbox") return;
      const { config } = request as { config?: { labels: Record<string, string>; linux?: { cgroupParent: string } } };
      const parent = config?.linux?.cgroupParent ?? "";
      const labels = config?.labels ?? {};
      if (!parent.endsWith(`/pod${uidOf(labels)}`))
        broken(`its sandbox gets the cgroup "${parent}"`, podNameOf(labels));
      else if (!disk.tree.exists(CGROUP_ROOT + parent))
        broken(`there is no ${parent} for its sandbox`, podNameOf(labels));
    });
    cgroups.onKill.add((id) => {
      const { containers, sandboxes } = runtime.state;
      const labels = containers.get(id)?.config.labels ?? sandboxes.get(id)?.config.labels;
      const name = podNameOf(labels ?? {});
      if (labels !== undefined && !mayStop(world, name, id)) broken(`the processes of ${id} are killed`, name);
    });
    return () => checkTree(world, broken);
  },
};

function uidOf(labels: Readonly<Record<string, string>>): string {
  return labels["io.kubernetes.pod.uid"] ?? "";
}

/** The pods of the tree are those of the runtime. */
function checkTree({ runtime }: World, broken: Broken): void {
  const known = new Set<string>();
  const found = new Set(TIERS.flatMap((tier) => podsIn(tier)));
  for (const { config, status } of runtime.state.sandboxes.values()) {
    const uid = uidOf(config.labels);
    known.add(uid);
    if (status.state === PodSandboxState.SANDBOX_READY && !found.has(uid)) {
      broken("it runs, and its cgroup is gone", podNameOf(config.labels));
    }
  }
  for (const uid of found) if (!known.has(uid)) broken(`the cgroup of the removed pod ${uid} is left`);
}

function podsIn(tier: string): string[] {
  if (!disk.tree.exists(tier)) return [];
  const { entries } = disk.tree.lookUp(tier, "readdir");
  return [...entries.keys()].filter((name) => name.startsWith("pod")).map((name) => name.slice("pod".length));
}
