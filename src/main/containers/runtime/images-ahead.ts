// Gets the images of a pod's first containers while its sandbox is being made: neither needs the other.
// Invariant: at most AHEAD images are under way that no container has claimed. A pod may have ten thousand containers.

import type { Container, Pod } from "../../../shared/kubernetes/api/pod.js";
import type { ReadyImage } from "../images/image-puller.js";
import { repeatedConfig } from "./config/sandbox-config.js";
import type { NodeRuntime } from "./node-runtime.js";
import type { PodEnvironment } from "./pod-environment.js";
import { sandboxSettings } from "./sandbox-settings.js";

const AHEAD = 32;

interface Ahead {
  readonly image: Promise<ReadyImage>;
  readonly signal: AbortSignal;
}

export class ImagesAhead {
  private readonly ahead = new Map<Container, Ahead>();
  /** Containers whose images come next. */
  private rest: Iterator<Container> = [].values();
  private begin: (container: Container) => Ahead | undefined = () => undefined;

  constructor(private readonly runtime: NodeRuntime) {}

  /** Begins with the containers that start first: the first init container, or the app containers in their order. */
  fetchAhead(pod: Pod, environment: PodEnvironment, attempt: number, signal: AbortSignal): void {
    this.ahead.clear();
    const first = pod.spec.initContainers?.slice(0, 1) ?? [];
    this.rest = (first.length > 0 ? first : pod.spec.containers).values();
    this.begin = (container) => {
      if (signal.aborted) return undefined;
      const image = this.ensure(pod, container, environment, attempt, signal);
      // Awaited by the container's start; until then a failure must not count as unhandled.
      image.catch(() => undefined);
      return { image, signal };
    };
    this.fill();
  }

  /** The image that was begun for this container in this pass or the one before; once only. */
  claim(container: Container, signal: AbortSignal): Promise<ReadyImage> | undefined {
    const entry = this.ahead.get(container);
    this.ahead.delete(container);
    this.fill();
    // If its pass was aborted, the start itself pulls again.
    return entry === undefined || (entry.signal.aborted && !signal.aborted) ? undefined : entry.image;
  }

  private fill(): void {
    while (this.ahead.size < AHEAD) {
      const next = this.rest.next();
      if (next.done === true) return;
      const begun = this.begin(next.value);
      if (begun === undefined) return;
      this.ahead.set(next.value, begun);
    }
  }

  private async ensure(
    pod: Pod,
    container: Container,
    environment: PodEnvironment,
    attempt: number,
    signal: AbortSignal,
  ): Promise<ReadyImage> {
    const sandbox = repeatedConfig(await sandboxSettings(this.runtime, pod, environment, attempt));
    return this.runtime.images.ensure(pod, container, sandbox, signal);
  }
}
