// Makes sure that a container's image is there, by its pull policy and with back-off per pod and image.
import type { Container, Pod, PullPolicy } from "../../shared/api/pod.js";
import type { Clock } from "../../shared/clock/clock.js";
import type { CriClient } from "../../shared/cri/client.js";
import { isCriError, isUnavailable } from "../../shared/cri/errors.js";
import type { Image, PodSandboxConfig } from "../../shared/cri/gen/runtime.v1.js";
import { Limiter } from "../../shared/cri/limiter.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import type { Volume } from "../../shared/api/volume.js";
import type { ImageUser } from "../runtime/config/run-as-user.js";
import { StartContainerError } from "../runtime/start-container-error.js";
import { CrashBackoff } from "../sync/crash-backoff.js";
import { isInvalidImageNameError, requestedImage } from "./image-name.js";
import { defaultPullPolicy } from "./pull-policy.js";

/** Pull back-off per pod and image (constants.tsv): 10 s doubling to 5 min. */
const PULL_BACKOFF = { baseMs: 10_000, maxMs: 300_000, resetMs: 600_000 };
const RETRY_INSPECT_MS = 10_000;

export interface ReadyImage {
  /** What the runtime resolved the reference to. */
  imageRef: string;
  user: ImageUser;
}

export interface ImagePullerDeps {
  cri: Pick<CriClient, "imageStatus" | "pullImage">;
  clock: Clock;
  log: Logger;
  /** Pulls at once on the node; undefined: as many as are asked for. */
  parallelPulls: number | undefined;
}

/** Somebody who needs an image: a container, or a volume of type image. */
interface ImageNeed {
  pod: Pod;
  /** As the pod names it. */
  spec: string;
  policy: PullPolicy | undefined;
  sandboxConfig: PodSandboxConfig;
}

export class ImagePuller {
  private readonly backoff = new CrashBackoff(PULL_BACKOFF);
  private readonly turns: Limiter | undefined;
  private readonly log: Logger;

  constructor(private readonly deps: ImagePullerDeps) {
    this.turns = deps.parallelPulls === undefined ? undefined : new Limiter(deps.parallelPulls, deps.clock);
    this.log = moduleLogger(deps.log, "images");
  }

  /** Rejects with StartContainerError (ErrImagePull, ImagePullBackOff, ErrImageNeverPull, …) or the runtime's absence. */
  async ensure(
    pod: Pod,
    container: Container,
    sandboxConfig: PodSandboxConfig,
    signal: AbortSignal,
  ): Promise<ReadyImage> {
    const { image: spec = "", imagePullPolicy: policy } = container;
    return readyImage(await this.ensureImage({ pod, spec, policy, sandboxConfig }, signal));
  }

  /** The image of a volume of type image. Rejects as `ensure` does. */
  async ensureVolume(
    pod: Pod,
    volume: Pick<Volume, "name" | "image">,
    sandboxConfig: PodSandboxConfig,
    signal: AbortSignal,
  ): Promise<{ imageRef: string }> {
    const { reference: spec = "", pullPolicy: policy } = volume.image ?? {};
    const image = await this.ensureImage({ pod, spec, policy, sandboxConfig }, signal);
    return { imageRef: image.id };
  }

  private async ensureImage(need: ImageNeed, signal: AbortSignal): Promise<Image> {
    const { pod, spec, sandboxConfig } = need;
    const image = referenceOf(spec);
    const policy = need.policy ?? defaultPullPolicy(spec);
    const present = policy === "Always" ? undefined : await this.status(image, signal);
    if (present !== undefined) return present;
    if (policy === "Never") {
      throw new StartContainerError(
        "ErrImageNeverPull",
        `Container image "${spec}" is not present with pull policy of Never`,
        this.deps.clock.now() + RETRY_INSPECT_MS,
      );
    }
    await this.pull(pod, image, sandboxConfig, signal);
    const pulled = await this.status(image, signal);
    if (pulled === undefined) {
      throw new StartContainerError("ErrImagePull", `image "${image}" was pulled but the runtime does not list it`);
    }
    return pulled;
  }

  private async status(image: string, signal: AbortSignal): Promise<Image | undefined> {
    try {
      return (await this.deps.cri.imageStatus({ image: { image } }, { signal })).image;
    } catch (error) {
      if (isUnavailable(error) || !isCriError(error) || signal.aborted) throw error;
      throw new StartContainerError("ImageInspectError", `Failed to inspect image "${image}": ${error.message}`);
    }
  }

  private async pull(pod: Pod, image: string, sandboxConfig: PodSandboxConfig, signal: AbortSignal): Promise<void> {
    const { clock, cri } = this.deps;
    const { log } = this;
    const key = `${pod.metadata.uid}_${image}`;
    const waiting = this.backoff.inBackoffSinceStep(key, clock.now());
    if (waiting !== undefined) {
      throw new StartContainerError("ImagePullBackOff", `Back-off pulling image "${image}"`, waiting.until);
    }
    const startedAt = clock.monotonic();
    log.info({ image }, `Pulling image "${image}"`);
    try {
      await this.inTurn(() => cri.pullImage({ image: { image }, sandboxConfig }, { signal }), signal);
      this.backoff.forget(key);
      log.info({ image }, `Successfully pulled image "${image}" in ${Math.round(clock.monotonic() - startedAt)}ms`);
    } catch (error) {
      if (isUnavailable(error) || !isCriError(error) || signal.aborted) throw error;
      const delayMs = this.backoff.next(key, clock.now(), clock.now());
      const reason = pullFailureReason(error.details);
      throw new StartContainerError(reason, error.details, clock.now() + delayMs, { cause: error });
    }
  }

  /** The wait ends with the signal: a pod that must go does not wait for the pull of another one. */
  private async inTurn<T>(pull: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.turns === undefined) return pull();
    await this.turns.acquire({ signal });
    try {
      return await pull();
    } finally {
      this.turns.release();
    }
  }
}

function referenceOf(spec: string): string {
  try {
    return requestedImage(spec);
  } catch (error) {
    if (!isInvalidImageNameError(error)) throw error;
    const message = `Failed to apply default image tag "${spec}": ${error.message}`;
    throw new StartContainerError("InvalidImageName", message, undefined, { cause: error });
  }
}

function pullFailureReason(details: string): string {
  const known = ["RegistryUnavailable", "SignatureValidationFailed"].find((prefix) => details.startsWith(prefix));
  return known ?? "ErrImagePull";
}

function readyImage(image: Image): ReadyImage {
  return {
    imageRef: image.id,
    user: {
      ...(image.uid === undefined ? {} : { uid: image.uid.value }),
      ...(image.username === "" ? {} : { username: image.username }),
    },
  };
}
