// When the threads start that no pod waits for: with the first PodSandbox, so that they do not take processors from the
// first pods. At once if this node has no pods, and soon in any case: a runtime or an API server may be away.

import type { Clock, Timer } from "../../shared/base/clock/clock.js";
import type { CriCalls } from "../../shared/kubernetes/cri/verbs.js";

/** From the moment when the sync path runs. */
const AT_LATEST_MS = 250;

export class OtherThreads {
  private timer: Timer | undefined;
  private isDone = false;

  constructor(
    private readonly clock: Pick<Clock, "after">,
    /** Starts the threads; called once at most. */
    private readonly startThreads: () => void,
  ) {}

  /** The sync path runs. */
  start(): void {
    this.timer = this.clock.after(AT_LATEST_MS, () => this.now());
  }

  stop(): void {
    this.isDone = true;
    this.timer?.cancel();
  }

  /** Nothing has to be first any more. */
  readonly now = (): void => {
    if (this.isDone) return;
    this.stop();
    this.startThreads();
  };

  /** Returns the client; the threads start after it has sent its first RunPodSandbox. */
  behindFirstSandbox<Calls extends Pick<CriCalls, "runPodSandbox">>(cri: Calls): Calls {
    return {
      ...cri,
      runPodSandbox: (request, options = {}) =>
        cri.runPodSandbox(request, {
          ...options,
          onSent: () => {
            options.onSent?.();
            // The bytes leave in this turn of the event loop.
            if (!this.isDone) this.clock.after(0, this.now);
          },
        }),
    };
  }
}
