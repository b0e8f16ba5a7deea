// Container GC on main. It removes exited containers and old sandboxes beyond the limits, and files that unknown pods
// left on disk. Main decides from the pod cache, so that the kubelet lists nothing for it.
// Invariant: nothing is removed before every source has delivered and the runtime was listed. Few removals run at once,
// because no caller waits for them. The kubelet inspects the pod after each removal.

import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { Loop } from "../../../shared/base/turns/loop.js";
import type { InspectHint } from "../../../shared/contracts/pleg.js";
import type { CriClient } from "../../../shared/kubernetes/cri/client.js";
import { CriNotFoundError, CriUnavailableError } from "../../../shared/kubernetes/cri/errors.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { ContainerId, PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { traced } from "../../../shared/telemetry/tracing/tracing.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import { removableLog, removeLogsOfRun, type LogFolders, type RemovedRun } from "../../model/removed-logs.js";
import { chooseDead, chooseTerminated, type Chosen, type DeadContainerPolicy } from "./dead-containers.js";

/** Container garbage collection. Source: https://kubernetes.io/docs/concepts/architecture/garbage-collection/ */
const PERIOD_MS = 60_000;
/** The pod sources deliver soon after the start, or much later. */
const NOT_YET_MS = 1000;
const AT_ONCE = 2;

export interface ContainerCollectorDeps {
  cri: Pick<CriClient, "removeContainer" | "removePodSandbox">;
  policy: DeadContainerPolicy;
  /** Observed pods that the sources still have, running or terminated; undefined while that is not known. */
  livingPods(): ObservedPod[] | undefined;
  /** Whether the pod, one of `livingPods`, is terminated. */
  isTerminated: (uid: PodUid) => boolean;
  /** The pod was changed. */
  changed(uid: PodUid, hints: InspectHint[]): void;
  logFolders: LogFolders;
  /** Terminates pods that the runtime still has and that no source wants. */
  sweepLeftovers(): Promise<void>;
  events: Pick<EventRecorder, "node">;
  clock: Clock;
  log: Logger;
}

export class ContainerCollector {
  private readonly loop: Loop;
  private readonly lifetime = new Lifetime();

  constructor(private readonly deps: ContainerCollectorDeps) {
    this.loop = new Loop({
      clock: deps.clock,
      periodMs: PERIOD_MS,
      round: () => this.collectOnce(),
      failed: (error) => {
        deps.log.error({ err: error }, `cannot terminate pods that no source wants: ${messageOf(error)}`);
        return PERIOD_MS;
      },
    });
  }

  start(): void {
    this.loop.start(NOT_YET_MS);
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    await this.loop.stop();
  }

  /**
   * For disk pressure: removes containers beyond the limits, and all exited containers of terminated pods. Removes
   * nothing before all sources have delivered. Tries everything, then rejects with the first failure.
   */
  async removeDead(): Promise<void> {
    await this.loop.settled();
    const pods = this.deps.livingPods();
    if (pods === undefined) return;
    const { policy, clock, isTerminated } = this.deps;
    const [terminated, living] = [
      pods.filter(({ uid }) => isTerminated(uid)),
      pods.filter(({ uid }) => !isTerminated(uid)),
    ];
    const dead = chooseDead(living, policy, clock.now());
    const rest = chooseTerminated(terminated, policy.minimumContainerTTLMs, clock.now());
    const chosen = {
      containers: [...dead.containers, ...rest.containers],
      sandboxes: [...dead.sandboxes, ...rest.sandboxes],
    };
    await this.remove(chosen, pods);
  }

  /** Answers when to come again. */
  private async collectOnce(): Promise<number> {
    const { log, events } = this.deps;
    try {
      const pods = this.deps.livingPods();
      if (pods === undefined) return NOT_YET_MS;
      await this.collect(pods);
    } catch (error) {
      const message = messageOf(error);
      // The runtime's absence is reported once for the node.
      if (error instanceof CriUnavailableError || this.lifetime.hasEnded) return PERIOD_MS;
      log.error({ err: error }, `container garbage collection failed: ${message}`);
      events.node({ type: "Warning", reason: "ContainerGCFailed", message });
    }
    await this.deps.sweepLeftovers();
    return PERIOD_MS;
  }

  /** Rejects with the first failure, once all else has been tried. */
  private collect(pods: readonly ObservedPod[]): Promise<void> {
    const { policy, clock } = this.deps;
    return traced(
      "Containers/GarbageCollect",
      () => ({ parent: "none" }),
      () => this.remove(chooseDead(pods, policy, clock.now()), pods),
    );
  }

  private async remove({ containers, sandboxes }: Chosen, pods: readonly ObservedPod[]): Promise<void> {
    const { cri, log, logFolders } = this.deps;
    const { signal } = this.lifetime;
    if (containers.length + sandboxes.length === 0) return;
    const names = containers.map(({ uid, name }) => `${name} of pod ${uid}`);
    log.info(
      { containers: containers.length, sandboxes: sandboxes.length },
      `removing dead containers (${names.slice(0, 10).join(", ")}) and ${sandboxes.length} empty sandboxes`,
    );
    const runs = runsOf(pods, new Set(containers.map(({ id }) => id)));
    const waiting: Removal[] = [
      ...containers.map(({ uid, id }): Removal => ({
        uid,
        run: async () => {
          const run = runs.get(id);
          if (run !== undefined) await removeLogsOfRun(logFolders, run);
          await cri.removeContainer({ containerId: id }, { signal });
        },
        hints: [{ kind: "container-removed", id }],
      })),
      ...sandboxes.map(({ uid, id }): Removal => ({
        uid,
        run: () => cri.removePodSandbox({ podSandboxId: id }, { signal }),
        hints: [
          { kind: "sandbox-removed", id },
          { kind: "recheck", id: "" },
        ],
      })),
    ];
    const failures: unknown[] = [];
    const lane = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
        await this.removeOne(next).catch((error: unknown) => failures.push(error));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    if (failures.length > 0) throw failures[0];
  }

  private async removeOne({ uid, run, hints }: Removal): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (!(error instanceof CriNotFoundError)) throw error;
    } finally {
      // Also after a failure: the call may have taken effect.
      this.deps.changed(uid, hints);
    }
  }
}

interface Removal {
  uid: PodUid;
  run: () => Promise<unknown>;
  hints: InspectHint[];
}

/** The removed runs whose logs no container that stays shares. */
function runsOf(pods: readonly ObservedPod[], removed: ReadonlySet<ContainerId>): Map<ContainerId, RemovedRun> {
  const runs = new Map<ContainerId, RemovedRun>();
  for (const { namespace, name, uid, containers } of pods) {
    const kept = containers.filter(({ id }) => !removed.has(id));
    for (const status of containers) {
      const restartCount = removed.has(status.id) ? removableLog(status, kept) : undefined;
      if (restartCount === undefined) continue;
      const container = status.metadata?.name ?? "";
      runs.set(status.id, { pod: { namespace, name, uid }, container, containerId: status.id, restartCount });
    }
  }
  return runs;
}
