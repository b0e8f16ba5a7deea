// The doer: executes the planner's steps, one verb per file. It keeps prepared data of a pod until the pod has ended.

import type { InspectHint } from "../../../shared/contracts/pleg.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { prepareClaims } from "../../model/pod-claims.js";
import type { PodResources } from "../../model/pod-resources.js";
import { traced } from "../../model/pod-trace.js";
import { StartContainerError } from "../../model/step-errors.js";
import type { StartContainerStep, Step } from "../../model/step.js";
import { cleanUpPod, releasePod } from "./clean-up.js";
import { createSandbox } from "./create-sandbox.js";
import { runPostStart } from "./hooks/post-start.js";
import type { PreStopMemory } from "./hooks/pre-stops.js";
import { ImagesAhead } from "./images-ahead.js";
import { killContainer, runPreStopAhead, Stopping } from "./kill-container.js";
import type { NodeRuntime } from "./node-runtime.js";
import { fitCgroup, preparePod, type PodEnvironment } from "./pod-environment.js";
import { PodLogFiles } from "./pod-log-files.js";
import { startContainer } from "./start-container.js";
import { removeContainer, removeSandbox, stopSandbox } from "./stop.js";
import { outgrown, resizeContainers } from "./update-container.js";

export class Doer {
  constructor(
    private readonly runtime: NodeRuntime,
    private readonly uid: PodUid,
    /** Called with the directories in which the runtime makes this pod's container cgroups. */
    private readonly onCgroup: (uid: PodUid, watchDirs: string[]) => void,
    /** Without one, finished hooks are known as long as the kubelet runs. */
    preStopMemory?: PreStopMemory,
    /** The resources last applied to the pod's containers, if known. */
    private readonly actuated: () => PodResources | undefined = () => undefined,
    /** A pod that is being ended is wanted again, under the same UID. */
    private readonly comesBack: () => boolean = () => false,
    /** The pod's log files and links. They stay known when the pod gets another doer. */
    private readonly logFiles = new PodLogFiles(),
  ) {
    this.images = new ImagesAhead(runtime);
    this.stopping = new Stopping(runtime, preStopMemory);
  }

  private readonly images: ImagesAhead;
  private readonly stopping: Stopping;

  /** The pod's cgroup was last set to more than the pod's allocation. */
  private outgrown = false;
  /** No container of this pod runs with more than is allocated to it: its cgroup has the pod's size. */
  private fitting: Pod | undefined;
  private environment: { pod: Pod; prepared: PodEnvironment } | undefined;
  /** The pod has its own user namespace and a new sandbox, and no container has failed to start in it. */
  private isUserNamespaceUnproven = false;

  /** No hook of the pod is under way. */
  get isIdle(): boolean {
    return this.stopping.preStops.isIdle;
  }

  /** Drops the state of containers that the runtime no longer has. */
  onObserved(observed: ObservedPod): void {
    this.stopping.onObserved(observed);
  }

  /** The kubelet stops; the pod keeps running. */
  async stop(): Promise<void> {
    await this.stopping.preStops.stop();
  }

  /**
   * Runs the step, and records it in the pod's timeline. Rejects with StartContainerError if one container failed;
   * every other error fails the whole pass. @param onProgress hints for objects that the step changes while it runs:
   * its own hints come only at its end
   */
  async execute(
    pod: Pod | undefined,
    step: Step,
    signal: AbortSignal,
    onProgress: (hints: InspectHint[]) => void = () => undefined,
  ): Promise<InspectHint[]> {
    const container = containerOf(step);
    const subject = { uid: this.uid, stage: step.kind, container };
    return traced(this.runtime.trace, subject, () => this.perform(pod, step, signal, onProgress));
  }

  private async perform(
    pod: Pod | undefined,
    step: Step,
    signal: AbortSignal,
    onProgress: (hints: InspectHint[]) => void,
  ): Promise<InspectHint[]> {
    switch (step.kind) {
      case "create-sandbox": {
        const known = required(pod, step);
        const prepared = await this.prepare(known, signal, true);
        // Awaited only by a pod that must wait: a normal start continues at once.
        const place = this.runtime.sandboxesAhead.enter(this.uid, prepared.volumes, signal);
        if (place !== undefined) await place;
        this.images.fetchAhead(known, prepared, step.attempt, signal);
        const made = await createSandbox(this.runtime, known, prepared, step, signal);
        this.isUserNamespaceUnproven = known.spec.hostUsers === false;
        return made;
      }
      case "start-container": {
        const known = required(pod, step);
        const prepared = await this.prepare(known, signal, false);
        await this.fit(known, step.container.name);
        const image = this.images.claim(step.container, signal);
        const hints = await startContainer(this.runtime, known, prepared, step, signal, image).catch(
          (error: unknown) => {
            if (error instanceof StartContainerError) this.countNamespaceFailure(step);
            throw error;
          },
        );
        await runPostStart(this.runtime, this.stopping, known, step, hints, signal, onProgress);
        return hints;
      }
      case "resize-containers":
        return resizeContainers(this.runtime, required(pod, step), step, signal);
      case "kill-container":
        return killContainer(this.runtime, this.stopping, pod, step, signal);
      case "run-pre-stop":
        return runPreStopAhead(this.runtime, this.stopping, pod, step, signal);
      case "stop-sandbox":
        return stopSandbox(this.runtime, step, signal);
      case "remove-container":
        return removeContainer(this.runtime, pod, step, signal);
      case "remove-sandbox":
        return removeSandbox(this.runtime, step, signal);
      case "release":
        this.environment = undefined;
        await releasePod(this.runtime, this.uid, pod, signal);
        return [];
      case "clean-up":
        this.environment = undefined;
        await cleanUpPod(this.runtime, this.uid, signal, {
          pod,
          comesBack: this.comesBack(),
          links: this.logFiles.takeLinks(),
        });
        return [];
    }
  }

  /**
   * User namespaces mostly fail when a container is created: the first failure of a first container counts as the
   * pod's.
   */
  private countNamespaceFailure({ backoff }: StartContainerStep): void {
    if (!this.isUserNamespaceUnproven || backoff !== undefined) return;
    this.isUserNamespaceUnproven = false;
    this.runtime.metrics.userNamespacedPodFailed();
  }

  /** While others run with more than is allocated to them the pod's cgroup keeps room for that. */
  private async fit(pod: Pod, started: string): Promise<void> {
    const actuated = this.actuated();
    // Each further start brings a container to the pod's own resources.
    if (actuated === undefined || this.fitting === pod) return;
    const others = Object.entries(actuated.containers).filter(([name]) => name !== started);
    const sized = outgrown(pod, { ...actuated, containers: Object.fromEntries(others) });
    if (sized !== pod || this.outgrown) await fitCgroup(this.runtime, pod, sized);
    this.outgrown = sized !== pod;
    if (!this.outgrown) this.fitting = pod;
  }

  /** Prepares once per definition; a new sandbox always prepares again, as the old one may have removed resources. */
  private async prepare(pod: Pod, signal: AbortSignal, anew: boolean): Promise<PodEnvironment> {
    await prepareClaims(this.runtime.cluster?.()?.claims, pod, anew, signal);
    if (!anew && this.environment?.pod === pod) {
      const { prepared } = this.environment;
      const failed = await prepared.volumes.then(
        () => false,
        () => true,
      );
      if (!failed) return prepared;
    }
    const sized = outgrown(pod, this.actuated());
    const prepared = await preparePod(this.runtime, pod, signal, this.logFiles, sized === pod ? undefined : sized);
    this.outgrown = sized !== pod;
    this.fitting = undefined;
    this.environment = { pod, prepared };
    this.onCgroup(this.uid, prepared.cgroup.watchDirs);
    return prepared;
  }
}

function required(pod: Pod | undefined, step: Step): Pod {
  if (pod === undefined) throw new Error(`cannot run step ${step.kind} for a pod without spec`);
  return pod;
}

function containerOf(step: Step): string | undefined {
  if (step.kind === "start-container") return step.container.name;
  return "name" in step ? step.name : undefined;
}
