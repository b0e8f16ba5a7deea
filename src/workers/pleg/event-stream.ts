// Follows the CRI event stream if the runtime has one (containerd from 1.7, CRI-O); others return Unimplemented.

import { Lifetime } from "../../shared/base/abort/lifetime.js";
import type { Clock } from "../../shared/base/clock/clock.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import { CriUnavailableError, CriUnimplementedError } from "../../shared/kubernetes/cri/errors.js";
import { ContainerEventType } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import { type PodUid, podUid } from "../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { PlegMetrics } from "./metrics.js";
import { POD_UID_LABEL } from "./pod-inspector.js";

type EventStreamCri = Pick<CriClient, "getContainerEvents">;

/** working: events arrive; absent: the runtime has no stream; down: it broke and is tried again. */
export type EventStreamState = "connecting" | "working" | "absent" | "down";

export interface EventStreamOptions {
  cri: EventStreamCri;
  clock: Clock;
  log: Logger;
  /** `isStart`: an object was created or started; otherwise it has exited or was removed. */
  onEvent(uid: PodUid, isStart: boolean): void;
  onState(state: EventStreamState): void;
  metrics: Pick<PlegMetrics, "streamConnected" | "streamFailed" | "eventArrived">;
}

const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 10_000;
/** A stream that has lived this long without an error counts as working, also when no container does anything. */
const SETTLED_MS = 500;

const STARTS = new Set([ContainerEventType.CONTAINER_CREATED_EVENT, ContainerEventType.CONTAINER_STARTED_EVENT]);

export class EventStream {
  private readonly lifetime = new Lifetime();
  private state: EventStreamState = "connecting";
  private finished: Promise<void> | undefined;

  constructor(private readonly options: EventStreamOptions) {}

  start(): void {
    this.finished = this.follow();
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    await this.finished;
  }

  private async follow(): Promise<void> {
    const { signal } = this.lifetime;
    let retryMs = RETRY_MIN_MS;
    while (!this.isStopped()) {
      const settled = this.options.clock.after(SETTLED_MS, () => this.setState("working"));
      try {
        for await (const event of this.options.cri.getContainerEvents({}, { signal })) {
          retryMs = RETRY_MIN_MS;
          this.setState("working");
          this.options.metrics.eventArrived(this.options.clock.now() - Number(event.createdAt / 1_000_000n));
          const uid = event.podSandboxStatus?.labels[POD_UID_LABEL];
          if (uid !== undefined) this.options.onEvent(podUid(uid), STARTS.has(event.containerEventType));
        }
        this.setState("down");
      } catch (error) {
        if (this.isStopped()) return;
        // The runtime may return with a newer version: Unimplemented is final only until then, so it is called again.
        this.setState(error instanceof CriUnimplementedError ? "absent" : "down");
        if (!(error instanceof CriUnimplementedError) && !(error instanceof CriUnavailableError)) {
          this.options.log.warn(
            { err: error },
            "container event stream failed; relisting continues, reconnecting the stream",
          );
        }
        if (error instanceof CriUnimplementedError) retryMs = RETRY_MAX_MS;
      } finally {
        settled.cancel();
      }
      try {
        await this.options.clock.sleep(retryMs, signal);
      } catch {
        return; // stopped while waiting
      }
      retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
    }
  }

  /** Read again each time: stop() may come while a call is awaited. */
  private isStopped(): boolean {
    return this.lifetime.hasEnded;
  }

  private setState(state: EventStreamState): void {
    if (state === "down") this.options.metrics.streamFailed();
    if (state === this.state) return;
    this.state = state;
    if (state === "working") this.options.metrics.streamConnected();
    this.options.onState(state);
  }
}
