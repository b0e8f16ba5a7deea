// Server streams: container events, and the list calls in pages (the CRIListStreaming form).

import type {
  ContainerEventResponse,
  StreamContainersRequest,
  StreamContainerStatsRequest,
  StreamImagesRequest,
  StreamPodSandboxesRequest,
  StreamPodSandboxStatsRequest,
} from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { CriMethod } from "../../src/shared/kubernetes/cri/verbs.js";
import type { FakeState } from "./state.js";
import { listContainers } from "./verbs/containers.js";
import { listImages } from "./verbs/images.js";
import { listSandboxes } from "./verbs/sandboxes.js";
import { listContainerStats, listPodMetrics, listPodStats } from "./verbs/stats.js";

/** Items in one message of a paged list. */
const PAGE = 100;

/** The pages of a list stream, as reply messages; undefined when the method is not a list stream. */
export function pagesOf(state: FakeState, method: CriMethod, request: unknown): object[] | undefined {
  switch (method) {
    case "streamPodSandboxes":
      return paged("podSandboxes", listSandboxes(state, (request as StreamPodSandboxesRequest).filter));
    case "streamContainers":
      return paged("containers", listContainers(state, (request as StreamContainersRequest).filter));
    case "streamContainerStats":
      return paged("containerStats", listContainerStats(state, (request as StreamContainerStatsRequest).filter));
    case "streamPodSandboxStats":
      return paged("podSandboxStats", listPodStats(state, (request as StreamPodSandboxStatsRequest).filter));
    case "streamPodSandboxMetrics":
      return paged("podSandboxMetrics", listPodMetrics(state));
    case "streamImages":
      return paged("images", listImages(state, (request as StreamImagesRequest).filter));
    default:
      return undefined;
  }
}

function paged(field: string, items: readonly object[]): object[] {
  const pages: object[] = [];
  for (let at = 0; at < items.length; at += PAGE) pages.push({ [field]: items.slice(at, at + PAGE) });
  return pages;
}

/** Feeds events to `write` until the signal aborts. */
export function followEvents(
  state: FakeState,
  write: (event: ContainerEventResponse) => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    state.eventListeners.add(write);
    const end = (): void => {
      state.eventListeners.delete(write);
      resolve();
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
