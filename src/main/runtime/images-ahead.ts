// Gets the images of a pod's first containers while its sandbox is being made: neither needs the other.
import type { Container, Pod } from "../../shared/api/pod.js";
import type { ReadyImage } from "../images/image-puller.js";
import type { NodeRuntime } from "./node-runtime.js";
import type { PodEnvironment } from "./pod-environment.js";
import { sandboxSettings } from "./sandbox-settings.js";

export class ImagesAhead {
  private readonly ahead = new Map<Container, { image: Promise<ReadyImage>; signal: AbortSignal }>();

  constructor(private readonly runtime: NodeRuntime) {}

  /** Begins with the containers that start first: the first init container, or all app containers. */
  fetchAhead(pod: Pod, environment: PodEnvironment, signal: AbortSignal): void {
    this.ahead.clear();
    const first = pod.spec.initContainers?.slice(0, 1) ?? [];
    for (const container of first.length > 0 ? first : pod.spec.containers) {
      const image = this.ensure(pod, container, environment, signal);
      // Awaited by the container's start; until then a failure must not count as unhandled.
      image.catch(() => undefined);
      this.ahead.set(container, { image, signal });
    }
  }

  /** The image that was begun for this container in this pass or the one before; once only. */
  take(container: Container, signal: AbortSignal): Promise<ReadyImage> | undefined {
    const entry = this.ahead.get(container);
    this.ahead.delete(container);
    // A pull whose pass was aborted is begun anew by the start itself.
    return entry === undefined || (entry.signal.aborted && !signal.aborted) ? undefined : entry.image;
  }

  private async ensure(
    pod: Pod,
    container: Container,
    environment: PodEnvironment,
    signal: AbortSignal,
  ): Promise<ReadyImage> {
    const sandbox = await sandboxSettings(this.runtime, pod, environment, 0);
    return this.runtime.images.ensure(pod, container, sandbox, signal);
  }
}
