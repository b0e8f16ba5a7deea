// Which pods a shutdown ends, in which group each is, and when the kubelet began to end it: as the runtime sees it.

import { ContainerEventType, ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import type { PodShape } from "../plan/pod-shapes.js";
import { podNameOf, type PodFacts } from "../world/pod-facts.js";
import { CRITICAL_PRIORITY, type ShutdownGroup } from "../world/shutdown-settings.js";
import type { Shutdown } from "../world/shutdowns.js";
import type { World } from "../world/world.js";

/** Whole seconds are rounded, and a call takes a moment. */
const SHORTER_MS = 1500;

export class ShutdownEnds {
  /** When the first call came that ends containers of the pod, by name. */
  readonly begunAt = new Map<string, number>();
  /** When a container of the pod ended last, by name. */
  readonly endedAt = new Map<string, number>();
  /** Pods that nothing else ends, by name. */
  readonly pods = new Map<string, { facts: PodFacts; group: number }>();

  constructor(
    private readonly world: World,
    private readonly groups: readonly ShutdownGroup[],
    readonly shutdown: Shutdown,
  ) {
    for (const [name, facts] of world.facts.pods) {
      const { shape, deletedAt, editedAt } = facts;
      if (!shape.isSteady || shape.hasDeadline || deletedAt !== undefined || editedAt !== undefined) continue;
      if (this.runs(name)) this.pods.set(name, { facts, group: this.groupOf(shape) });
    }
  }

  /** As upstream's kubelet finds it; a static pod without a priority is critical (docs/adr/0034). */
  groupOf({ spec, isStatic }: PodShape): number {
    const priority = (spec["priority"] as number | undefined) ?? (isStatic ? CRITICAL_PRIORITY : 0);
    const index = this.groups.findLastIndex((group) => group.priority <= priority);
    return Math.max(0, index);
  }

  /** Its grace period in this shutdown, s. */
  graceOf({ facts, group }: { facts: PodFacts; group: number }): number {
    return Math.min(facts.shape.graceSeconds, this.groups[group]?.seconds ?? 0);
  }

  /** The time of the group is over. */
  isOutOfTime(group: number): boolean {
    const moments = [...this.begunAt].filter(([name]) => {
      const shape = this.world.facts.pods.get(name)?.shape;
      return shape !== undefined && this.groupOf(shape) === group;
    });
    const first = Math.min(Infinity, ...moments.map(([, at]) => at));
    return kernel.monotonic - first >= (this.groups[group]?.seconds ?? 0) * 1000 - SHORTER_MS;
  }

  /** Names of the pods of groups below that run though their time is not over. */
  before(group: number): string[] {
    const below = [...this.pods].filter(([name, pod]) => pod.group < group && this.isWanted(name));
    return below.flatMap(([name, pod]) =>
      this.hasTime(pod.group) && this.runs(name) && !this.isOutOfTime(pod.group) ? [name] : [],
    );
  }

  /** A user may have deleted it meanwhile. */
  isWanted(name: string): boolean {
    const { deletedAt, editedAt } = this.pods.get(name)?.facts ?? {};
    return deletedAt === undefined && editedAt === undefined;
  }

  runs(name: string): boolean {
    return [...this.world.runtime.state.containers.values()].some(
      ({ config, status }) => podNameOf(config.labels) === name && status.state === ContainerState.CONTAINER_RUNNING,
    );
  }

  /** A group without time is not waited for. */
  hasTime(group: number): boolean {
    return (this.groups[group]?.seconds ?? 0) > 0;
  }
}

/** The ends of the shutdown that is under way and that nothing else disturbs. */
export function watchEnds(world: World): () => ShutdownEnds | undefined {
  const { shutdowns, node, runtime } = world;
  let last: ShutdownEnds | undefined;
  const current = (): ShutdownEnds | undefined =>
    last?.shutdown.isCalm === true && last.shutdown.isOver !== true ? last : undefined;
  shutdowns?.onBegin.add((shutdown) => {
    last = new ShutdownEnds(world, node.shutdown ?? [], shutdown);
  });
  runtime.watchers.add((verb, request) => {
    const ends = current();
    if (ends === undefined || !endsContainer(verb, request)) return;
    const { containerId } = request as { containerId: string };
    const name = podNameOf(runtime.state.containers.get(containerId)?.config.labels ?? {});
    if (!ends.begunAt.has(name)) ends.begunAt.set(name, kernel.monotonic);
  });
  runtime.state.eventListeners.add(({ containerId, containerEventType }) => {
    if (containerEventType !== ContainerEventType.CONTAINER_STOPPED_EVENT) return;
    const name = podNameOf(runtime.state.containers.get(containerId)?.config.labels ?? {});
    current()?.endedAt.set(name, kernel.monotonic);
  });
  return current;
}

/** The call stops a container, or runs its preStop hook before that. */
export function endsContainer(verb: string, request: unknown): boolean {
  if (verb === "StopContainer") return true;
  return verb === "ExecSync" && (request as { cmd?: readonly string[] }).cmd?.[0] === "hook";
}
