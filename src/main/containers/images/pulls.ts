// The image pulls of the node, with limits on their rate and number. Credentials are tried in turn, and long pulls are
// logged.
// Invariant: every taken slot is released; the intent is on disk before the kubelet calls PullImage.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { podDescription, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { CriClient } from "../../../shared/kubernetes/cri/client.js";
import { CriError } from "../../../shared/kubernetes/cri/errors.js";
import type { AuthConfig, PodSandboxConfig } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { ImageCredentials, PullCredentials } from "./credentials.js";
import type { ImageAccess } from "./image-access.js";
import { countsAsPullFailure, PullFailure } from "./pull-failure.js";
import { type PullRate, PullRateError } from "./pull-limits.js";
import { PullProgress } from "./pull-progress.js";
import { type PullTurns } from "./pull-turns.js";

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
   * Resolves to undefined if the image is present after the wait for a slot. Rejects with PullFailure for a failure of
   * the image or its registry. Also rejects with CriUnavailableError if the runtime is unavailable, or with the
   * signal's reason.
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
      if (!(error instanceof PullRateError)) throw error;
      throw new PullFailure([error]);
    }
  }

  /** Without the record of its pull, an image would count as preloaded, and every pod could use it. */
  private async announce(image: string, signal: AbortSignal): Promise<void> {
    try {
      await this.deps.access.pulling(image);
    } catch (error) {
      if (error instanceof CriError || signal.aborted || !(error instanceof Error)) throw error;
      throw new PullFailure([error]);
    }
  }

  private async once(request: PullRequest, auth: AuthConfig | undefined, signal: AbortSignal): Promise<string> {
    const { image, pod, sandboxConfig, runtimeHandler } = request;
    const { imageRef } = await this.deps.cri.pullImage(
      {
        image: { image, annotations: pod.metadata.annotations ?? {}, userSpecifiedImage: image, runtimeHandler },
        sandboxConfig,
        auth,
      },
      { signal },
    );
    return imageRef;
  }
}
