// The image pulls of the node, with limits on their rate and number. Credentials are tried in turn, and long pulls are logged.
// Invariant: every taken slot is released; the intent is on disk before the kubelet calls PullImage.
import { podDescription, type Pod } from "../../shared/api/pod.js";
import type { Clock, Timer } from "../../shared/clock/clock.js";
import type { CriClient } from "../../shared/cri/client.js";
import { isCriError, isUnavailable } from "../../shared/cri/errors.js";
import type { AuthConfig, PodSandboxConfig } from "../../shared/cri/gen/runtime.v1.js";
import type { Logger } from "../../shared/log/logger.js";
import type { ImageCredentials, PullCredentials, ImageAccess } from "./credentials.js";
import { type PullRate, type PullTurns, isPullRateError } from "./pull-limits.js";
import { goDuration } from "../../shared/clock/durations.js";

export interface PullsDeps {
  cri: Pick<CriClient, "pullImage">;
  clock: Clock;
  log: Logger;
  turns: PullTurns;
  rate: PullRate;
  credentials: ImageCredentials;
  access: ImageAccess;
}

export interface PullRequest {
  pod: Pod;
  /** With its tag. */
  image: string;
  sandboxConfig: PodSandboxConfig;
  /** "": the runtime's default. */
  runtimeHandler: string;
  onStart: () => void;
  /** Asked after a wait. */
  stillNeeded: () => Promise<boolean>;
}

export interface PullResult {
  pullMs: number;
  /** With the wait for the turn. */
  totalMs: number;
}

export class Pulls {
  constructor(private readonly deps: PullsDeps) {}

  /**
   * Resolves to undefined if the image is present after the wait for a slot. Rejects with PullFailure for a failure of the image or its
   * registry. Also rejects with CriUnavailableError if the runtime is unavailable, or with the signal's reason.
   */
  async pull(request: PullRequest, signal: AbortSignal): Promise<PullResult | undefined> {
    const { clock, turns } = this.deps;
    const { pod, image } = request;
    const progress = new PullProgress(this.deps, { image, pod: podDescription(pod) }, () => turns.waiting);
    const askedAt = clock.monotonic();
    try {
      request.onStart();
      const { waited, release: giveBack } = await turns.acquire(pod, signal);
      try {
        if (waited && !(await request.stillNeeded())) return undefined;
        progress.pulling();
        const startedAt = clock.monotonic();
        await this.withCredentials(request, signal);
        const endedAt = clock.monotonic();
        return { pullMs: endedAt - startedAt, totalMs: endedAt - askedAt };
      } finally {
        giveBack();
      }
    } finally {
      progress.end();
    }
  }

  private async withCredentials(request: PullRequest, signal: AbortSignal): Promise<void> {
    const { access, credentials } = this.deps;
    const { pod, image } = request;
    const found: (PullCredentials | undefined)[] = await credentials.forImage(pod, image, signal);
    const failures: Error[] = [];
    await this.announce(image, signal);
    try {
      this.takeToken();
      for (const each of found.length > 0 ? found : [undefined]) {
        try {
          const imageRef = await this.once(request, each?.auth, signal);
          await access.pulled(image, imageRef, each?.source);
          return;
        } catch (error) {
          if (!countsAsPullFailure(error, signal)) throw error;
          failures.push(error);
        }
      }
    } catch (error) {
      await access.failed(image);
      throw error;
    }
    await access.failed(image);
    throw new PullFailure(failures);
  }

  /** One for the image, however many credentials are tried: registryPullQPS counts images, as upstream. */
  private takeToken(): void {
    try {
      this.deps.rate.acquire();
    } catch (error) {
      if (!isPullRateError(error)) throw error;
      throw new PullFailure([error]);
    }
  }

  /** Without the record of its pull, an image would count as preloaded, and every pod could use it. */
  private async announce(image: string, signal: AbortSignal): Promise<void> {
    try {
      await this.deps.access.pulling(image);
    } catch (error) {
      if (isCriError(error) || signal.aborted || !(error instanceof Error)) throw error;
      throw new PullFailure([error]);
    }
  }

  private async once(request: PullRequest, auth: AuthConfig | undefined, signal: AbortSignal): Promise<string> {
    const { image, pod, sandboxConfig, runtimeHandler } = request;
    const { imageRef } = await this.deps.cri.pullImage(
      {
        image: { image, annotations: pod.metadata.annotations ?? {}, userSpecifiedImage: image, runtimeHandler },
        sandboxConfig,
        ...(auth === undefined ? {} : { auth }),
      },
      { signal },
    );
    return imageRef;
  }
}

// Builds the reason and message of a failed pull for the pod status. The message names every attempt; an unavailable
// registry and an invalid signature keep reasons of their own.

type PullFailureReason = "ErrImagePull" | "RegistryUnavailable" | "SignatureValidationFailed";

class PullFailure extends Error {
  override readonly name = "PullFailure";
  readonly reason: PullFailureReason;

  /** At least one. */
  constructor(readonly causes: readonly Error[]) {
    const texts = [...new Set(causes.map(textOf))];
    super(texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`, { cause: causes.at(-1) });
    this.reason = PREFIXES.find((prefix) => this.message.startsWith(prefix)) ?? "ErrImagePull";
  }
}

export function isPullFailure(error: unknown): error is PullFailure {
  return error instanceof PullFailure;
}

/** Runtimes begin their text with these for more specific failures. */
const PREFIXES = ["RegistryUnavailable", "SignatureValidationFailed"] as const;
const EXPLAINED = {
  RegistryUnavailable: "because the registry is unavailable",
  SignatureValidationFailed: "because the signature validation failed",
};

/** The image's or the registry's fault; not the runtime's absence, and not the pod's own end. */
function countsAsPullFailure(error: unknown, signal: AbortSignal): error is Error {
  return isCriError(error) && !isUnavailable(error) && !signal.aborted;
}

/** The message of the container's waiting state. */
export function pullFailureMessage(image: string, failure: PullFailure): string {
  const { reason, message } = failure;
  if (reason === "ErrImagePull") return message;
  return `image pull failed for ${image} ${EXPLAINED[reason]}${message.slice(reason.length)}`;
}

function textOf(error: Error): string {
  return isCriError(error) ? error.details : error.message;
}

// Log lines of a long pull, at growing intervals. The runtime reports only the end of a pull, but an operator needs the reason of a wait.

const FIRST_MS = 10_000;
const LONGEST_MS = 300_000;

class PullProgress {
  private timer: Timer | undefined;
  private intervalMs = FIRST_MS;
  private readonly startedAt: number;
  private pullingSince: number | undefined;

  constructor(
    private readonly deps: { clock: Clock; log: Logger },
    private readonly about: { image: string; pod: string },
    /** Pulls that wait for a turn, this one among them. */
    private readonly waiting: () => number,
  ) {
    this.startedAt = deps.clock.monotonic();
    this.arm();
  }

  /** The pull's turn has come. */
  pulling(): void {
    this.pullingSince = this.deps.clock.monotonic();
  }

  /** Stops the log lines; must be called. */
  end(): void {
    this.timer?.cancel();
  }

  private arm(): void {
    this.timer = this.deps.clock.after(this.intervalMs, () => {
      this.logProgress();
      this.intervalMs = Math.min(this.intervalMs * 2, LONGEST_MS);
      this.arm();
    });
  }

  private logProgress(): void {
    const { clock, log } = this.deps;
    const { image, pod } = this.about;
    const since = (from: number): string => goDuration(Math.round((clock.monotonic() - from) / 1000) * 1000);
    const text =
      this.pullingSince === undefined
        ? `has waited ${since(this.startedAt)} for its turn (${this.waiting()} wait)`
        : `has been going on for ${since(this.pullingSince)}`;
    log.info({ image, pod }, `the pull of image "${image}" for pod ${pod} ${text}`);
  }
}
