// Pod stats of the runtime (ListPodSandboxStats), for the gate PodAndContainerStatsFromCRI. After an error or a
// timeout the kubelet sends no such request for some time. It reads the cgroups instead, and no request waits a second
// time.

import type { Clock } from "../../../../shared/base/clock/clock.js";
import type { CriClient } from "../../../../shared/kubernetes/cri/client.js";
import { CriUnimplementedError } from "../../../../shared/kubernetes/cri/errors.js";
import type { ContainerStats, PodSandboxStats } from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { Logger } from "../../../../shared/telemetry/log/logger.js";
import { Shared } from "../shared-answer.js";

const LIFE_MS = 2000;
const DEADLINE_MS = 2000;
/** After a failure, and where the runtime has no such call: it may be a newer one one day. */
const SILENT_MS = 10_000;
const UNKNOWN_MS = 5 * 60_000;

export interface CriPodStatsDeps {
  runtime: () => Promise<Pick<CriClient, "listPodSandboxStats">>;
  clock: Clock;
  log: Pick<Logger, "debug" | "warn">;
}

export class CriPodStats {
  private readonly answers: Shared<readonly PodSandboxStats[]>;
  private notBefore = -Infinity;
  private logged = false;

  constructor(private readonly deps: CriPodStatsDeps) {
    this.answers = new Shared(LIFE_MS, deps.clock, () => this.ask());
  }

  /** undefined: the runtime does not report them. Never rejects. */
  async now(): Promise<readonly PodSandboxStats[] | undefined> {
    const { clock, log } = this.deps;
    if (clock.monotonic() < this.notBefore) return undefined;
    try {
      return await this.answers.get();
    } catch (error) {
      const unknown = error instanceof CriUnimplementedError;
      this.notBefore = clock.monotonic() + (unknown ? UNKNOWN_MS : SILENT_MS);
      if (unknown && !this.logged) {
        this.logged = true;
        log.warn(
          "the runtime has no ListPodSandboxStats, which the feature gate PodAndContainerStatsFromCRI needs; reading figures of pods from their cgroups",
        );
      } else log.debug({ err: error }, "the runtime did not report the usage of pods; reading their cgroups");
      return undefined;
    }
  }

  /** Returns the statistics of all containers; undefined: the runtime does not report them. */
  async containers(): Promise<ContainerStats[] | undefined> {
    return (await this.now())?.flatMap(({ linux }) => linux?.containers ?? []);
  }

  private async ask(): Promise<readonly PodSandboxStats[]> {
    const runtime = await this.deps.runtime();
    return (await runtime.listPodSandboxStats({}, { deadlineMs: DEADLINE_MS })).stats;
  }
}
