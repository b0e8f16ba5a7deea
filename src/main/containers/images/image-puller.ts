// Makes sure that the image of a container or volume is present: lists, decides by policy and access, pulls.
// Invariant: a failed pull is not retried before its back-off (per pod and image) expires; an absent runtime or an
// abort counts as no failure and starts no back-off.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { goDuration } from "../../../shared/base/clock/go-duration.js";
import { later } from "../../../shared/base/clock/moments.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { quote } from "../../../shared/base/text/quote.js";
import type { EventReason } from "../../../shared/kubernetes/api/event-reasons.js";
import { defaultPullPolicy } from "../../../shared/kubernetes/api/image-name.js";
import type { Container, Pod, PullPolicy } from "../../../shared/kubernetes/api/pod.js";
import type { Volume } from "../../../shared/kubernetes/api/volume.js";
import type { CriClient } from "../../../shared/kubernetes/cri/client.js";
import { CriError, CriUnavailableError } from "../../../shared/kubernetes/cri/errors.js";
import type { Image, PodSandboxConfig } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { EventInput, EventRecorder } from "../../model/event-recorder.js";
import { PULL_STAGE } from "../../model/pod-start-sli.js";
import { traced, type PodTrace } from "../../model/pod-trace.js";
import type { ImageUser } from "../../model/run-as-user.js";
import { StartContainerError } from "../../model/step-errors.js";
import type { ImageCredentials, OwnKind } from "./credentials.js";
import type { ImageAccess } from "./image-access.js";
import { InvalidImageNameError, requestedImage } from "./image-name.js";
import type { ImageMetrics } from "./metrics.js";
import { PullBackoff } from "./pull-backoff.js";
import { PullFailure, pullFailureMessage } from "./pull-failure.js";
import { type Pulls } from "./pulls.js";

const RETRY_INSPECT_MS = 10_000;

export interface ReadyImage {
  /** The image id to which the runtime resolved the reference. */
  imageRef: string;
  user: ImageUser;
}

export interface ImagePullerDeps {
  cri: Pick<CriClient, "imageStatus">;
  clock: Clock;
  events: EventRecorder;
  trace: PodTrace;
  pulls: Pulls;
  access: ImageAccess;
  credentials: ImageCredentials;
  metrics: ImageMetrics;
  /**
   * The runtime handler for which a pod's images are made ready; "" stands for all handlers (gate
   * RuntimeClassInImageCriApi).
   */
  handlerOf: (pod: Pod, signal: AbortSignal) => Promise<string>;
}

/** The user of an image: a container, or a volume of type image. */
interface ImageNeed {
  pod: Pod;
  /** Absent for a volume. */
  container?: string;
  /** As the pod names it. */
  spec: string;
  policy: PullPolicy;
  sandboxConfig: PodSandboxConfig;
  runtimeHandler: string;
}

export class ImagePuller {
  private readonly backoff: PullBackoff;

  constructor(private readonly deps: ImagePullerDeps) {
    this.backoff = new PullBackoff(deps.clock);
  }

  /**
   * Rejects with StartContainerError (ErrImagePull, ImagePullBackOff, ErrImageNeverPull, …) or the runtime's absence.
   */
  async ensure(
    pod: Pod,
    container: Container,
    sandboxConfig: PodSandboxConfig,
    signal: AbortSignal,
  ): Promise<ReadyImage> {
    const { name, image: spec = "", imagePullPolicy: policy = defaultPullPolicy(spec) } = container;
    const runtimeHandler = await this.deps.handlerOf(pod, signal);
    const need = { pod, container: name, spec, policy, sandboxConfig, runtimeHandler };
    return readyImage(await this.ensureImage(need, signal));
  }

  /** The image of a volume of type image. Rejects as `ensure` does. */
  async ensureVolume(
    pod: Pod,
    volume: Pick<Volume, "name" | "image">,
    sandboxConfig: PodSandboxConfig,
    signal: AbortSignal,
  ): Promise<{ imageRef: string }> {
    const { reference: spec = "", pullPolicy: policy = defaultPullPolicy(spec) } = volume.image ?? {};
    const runtimeHandler = await this.deps.handlerOf(pod, signal);
    const image = await this.ensureImage({ pod, spec, policy, sandboxConfig, runtimeHandler }, signal);
    return { imageRef: image.id };
  }

  private async ensureImage(need: ImageNeed, signal: AbortSignal): Promise<Image> {
    const image = this.referenceOf(need);
    const present = await this.usable(need, image, signal);
    if (present !== undefined) return present;
    if (need.policy === "Never") throw this.neverPulled(need);
    return this.pull(need, image, signal);
  }

  private referenceOf(need: ImageNeed): string {
    try {
      return requestedImage(need.spec);
    } catch (error) {
      if (!(error instanceof InvalidImageNameError)) throw error;
      const message = `Failed to apply default image tag ${quote(need.spec)}: ${error.message}`;
      this.emit(need, "Warning", "InspectFailed", message);
      throw new StartContainerError("InvalidImageName", message, undefined, { cause: error });
    }
  }

  /** The image, if it is present and the pod may use it without a pull. */
  private async usable(need: ImageNeed, image: string, signal: AbortSignal): Promise<Image | undefined> {
    const { metrics } = this.deps;
    if (need.policy === "Always") {
      metrics.ensured(need.policy, "unknown", "true");
      return undefined;
    }
    const present = await this.status(need, image, signal);
    const usable = present !== undefined && !(await this.mustProve(need, image, present, signal));
    metrics.ensured(need.policy, present === undefined ? "false" : "true", usable ? "false" : "true");
    if (!usable) return undefined;
    // As upstream: the event is there before a later pull fails.
    await this.deps.credentials.warnOfMissing(need.pod, signal);
    this.emitPresent(need);
    return present;
  }

  private emitPresent(need: ImageNeed): void {
    const how = this.deps.access.verifies ? " and can be accessed by the pod" : "";
    this.emit(need, "Normal", "Pulled", `Container image ${quote(need.spec)} already present on machine${how}`);
  }

  private mustProve({ pod }: ImageNeed, image: string, present: Image, signal: AbortSignal): Promise<boolean> {
    const { access, credentials } = this.deps;
    const own = async (kind: OwnKind) => {
      return (await credentials.ofPod(pod, image, kind, signal)).map(({ source }) => source);
    };
    return access.mustProve(image, present.id, own);
  }

  private neverPulled(need: ImageNeed): StartContainerError {
    const message = `Container image ${quote(need.spec)} is not present with pull policy of Never`;
    this.emit(need, "Warning", "ErrImageNeverPull", message);
    return new StartContainerError("ErrImageNeverPull", message, later(this.deps.clock.steady(), RETRY_INSPECT_MS));
  }

  private async status(need: ImageNeed, image: string, signal: AbortSignal): Promise<Image | undefined> {
    try {
      const { pod, runtimeHandler } = need;
      const spec = { image, annotations: pod.metadata.annotations ?? {}, runtimeHandler };
      return (await this.deps.cri.imageStatus({ image: spec }, { signal })).image;
    } catch (error) {
      if (error instanceof CriUnavailableError || !(error instanceof CriError) || signal.aborted) throw error;
      // The empty reference is upstream's: nothing was resolved.
      const message = `Failed to inspect image "": ${error.message}`;
      this.emit(need, "Warning", "InspectFailed", message);
      throw new StartContainerError("ImageInspectError", message, undefined, { cause: error });
    }
  }

  private async pull(need: ImageNeed, image: string, signal: AbortSignal): Promise<Image> {
    const { pod, spec } = need;
    const waiting = this.backoff.of(pod, image);
    if (waiting !== undefined) {
      this.emit(need, "Normal", "BackOff", `Back-off pulling image ${quote(spec)}`);
      const message = `Back-off pulling image ${quote(spec)}: ${waiting.reason}: ${waiting.message}`;
      throw new StartContainerError("ImagePullBackOff", message, waiting.until);
    }
    let meanwhile: Image | undefined;
    try {
      const { container } = need;
      const subject = { uid: pod.metadata.uid, stage: PULL_STAGE, container };
      const took = await traced(this.deps.trace, subject, () =>
        this.deps.pulls.pull(
          {
            pod,
            image,
            sandboxConfig: need.sandboxConfig,
            runtimeHandler: need.runtimeHandler,
            onStart: () => this.emit(need, "Normal", "Pulling", `Pulling image ${quote(spec)}`),
            stillNeeded: async () => {
              meanwhile = await this.broughtByOthers(need, image, signal);
              return meanwhile === undefined;
            },
          },
          signal,
        ),
      );
      this.backoff.succeeded(pod, image);
      if (took !== undefined) return await this.listed(need, image, took, signal);
    } catch (error) {
      if (!(error instanceof PullFailure)) throw error;
      const message = pullFailureMessage(image, error);
      const until = this.backoff.failed(pod, image, { reason: error.reason, message });
      this.emit(need, "Warning", "Failed", `Failed to pull image ${quote(spec)}: ${error.message}`);
      throw new StartContainerError(error.reason, message, until, { cause: error });
    }
    if (meanwhile === undefined) throw new Error(`the pull of image ${quote(image)} ended without a result`);
    this.emitPresent(need);
    return meanwhile;
  }

  /** Another pod may have pulled the image while this one waited for its turn. */
  private async broughtByOthers(need: ImageNeed, image: string, signal: AbortSignal): Promise<Image | undefined> {
    if (need.policy === "Always") return undefined;
    const present = await this.status(need, image, signal);
    return present === undefined || (await this.mustProve(need, image, present, signal)) ? undefined : present;
  }

  private async listed(
    need: ImageNeed,
    image: string,
    { pullMs, totalMs }: { pullMs: number; totalMs: number },
    signal: AbortSignal,
  ): Promise<Image> {
    const found = await this.status(need, image, signal);
    if (found === undefined) {
      throw new StartContainerError(
        "ErrImagePull",
        `image ${quote(image)} was pulled but the runtime does not list it`,
      );
    }
    this.deps.metrics.pulled(totalMs, found.size);
    const took = `${goMillis(pullMs)} (${goMillis(totalMs)} including waiting)`;
    const message = `Successfully pulled image ${quote(need.spec)} in ${took}. Image size: ${found.size} bytes.`;
    this.emit(need, "Normal", "Pulled", message);
    return found;
  }

  private emit({ pod, container }: ImageNeed, type: EventInput["type"], reason: EventReason, message: string): void {
    this.deps.events.pod(pod, { type, reason, message, container });
  }
}

/** Whole milliseconds, cut, not rounded. */
function goMillis(ms: number): string {
  return goDuration(Math.floor(ms));
}

function readyImage(image: Image): ReadyImage {
  return {
    imageRef: image.id,
    user: omitUndefined({
      uid: image.uid?.value,
      username: image.username === "" ? undefined : image.username,
    }),
  };
}
