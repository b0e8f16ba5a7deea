// A container that shares the pool leaves CPUs that another container gets for itself: at once, or when
// cpuManagerReconcilePeriod is over. CPUs of ended pods come back to the pool.

import { printCpuList } from "../../../src/shared/kubernetes/api/cpu-list.js";
import { kernel } from "../kernel/kernel.js";
import { namespaceOf } from "../plan/pod-shapes.js";
import { NODE_NAME } from "../world/api.js";
import { onCpusOf, runningContainerCpus, type ContainerCpus } from "../world/container-cpus.js";
import type { PodFacts } from "../world/pod-facts.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";

/** cpuManagerReconcilePeriod and the calls of one round. */
const LIMIT_MS = 10_000 + 5000;

export const sharedContainersMakeRoom: Invariant = {
  name: "shared containers leave exclusive CPUs",
  promisedBy: "docs/adr/0105-cpu-and-memory-manager.md",
  watch(world, broken) {
    if (world.node.reserved === undefined) return undefined;
    /** Steady moment at which a shared container was first seen on CPUs of another, by both IDs. */
    let since = new Map<string, number>();
    const check = (): void => {
      const now = kernel.monotonic;
      const seen = new Map<string, number>();
      for (const { key, shared, owner } of overlaps(world)) {
        const began = since.get(key) ?? now;
        seen.set(key, began);
        if (!since.has(key)) kernel.after(kernel.world, LIMIT_MS + 1, check);
        if (now - calmSince(world, began) <= LIMIT_MS) continue;
        broken(`${shared.name} runs on CPUs of ${owner.name} of ${owner.pod} for ${now - began} ms`, shared.pod);
      }
      since = seen;
    };
    onCpusOf(world, check);
    return () => {
      check();
      checkPool(world, broken);
    };
  },
};

/** The later one of `began` and the end of all that may delay the kubelet. */
function calmSince({ facts }: World, began: number): number {
  return Math.max(began, facts.lastFaultAt, facts.lastOtherFaultAt, facts.startedAt ?? Infinity);
}

function overlaps(world: World): { key: string; shared: ContainerCpus; owner: ContainerCpus }[] {
  const running = runningContainerCpus(world);
  const owners = running.filter(({ own }) => own > 0);
  return running
    .filter(({ own }) => own === 0)
    .flatMap((shared) =>
      owners
        .filter(({ cpus }) => [...cpus].some((cpu) => shared.cpus.has(cpu)))
        .map((owner) => ({ key: `${shared.id} ${owner.id}`, shared, owner })),
    );
}

/** No more CPUs are missing in the pool than pods asked for that have not ended. */
function checkPool(world: World, broken: Broken): void {
  const { cpus, reserved = [], isStrict } = world.node;
  const usable = cpus - (isStrict ? reserved.length : 0);
  const asked = world.facts.wanted
    .filter((pod) => !hasEnded(world, pod))
    .flatMap(({ shape }) => Object.values(shape.cpus ?? {}));
  const most = asked.reduce((sum, one) => sum + one, 0);
  for (const container of runningContainerCpus(world)) {
    if (container.own > 0) continue;
    const list = printCpuList(container.cpus);
    // Nothing is left to share under strict reservation.
    if (isStrict && list === printCpuList(reserved)) continue;
    if (container.cpus.size >= usable - most) continue;
    broken(`${container.name} runs on ${list}: pods asked for ${most} of ${usable} CPUs`, container.pod);
  }
}

function hasEnded({ api }: World, { shape }: PodFacts): boolean {
  const name = shape.isStatic ? `${shape.name}-${NODE_NAME}` : shape.name;
  const { phase } = (api.store.get("pods", namespaceOf(shape), name)?.status ?? {}) as { phase?: string };
  return phase === "Failed" || phase === "Succeeded";
}
