// The lists of CRI as streams, in parts. A list of a full node may be longer than one gRPC message.

import type { StreamVerbs, UnaryMethod, Verbs } from "./call.js";

/** Entries of one message. */
const PART = 100;

type Lists = Pick<
  Verbs<UnaryMethod>,
  | "listPodSandbox"
  | "listContainers"
  | "listContainerStats"
  | "listPodSandboxStats"
  | "listPodSandboxMetrics"
  | "listImages"
>;

type ListStream =
  | "streamPodSandboxes"
  | "streamContainers"
  | "streamContainerStats"
  | "streamPodSandboxStats"
  | "streamPodSandboxMetrics"
  | "streamImages";

export function listStreams(lists: Lists): StreamVerbs<ListStream> {
  return {
    async streamPodSandboxes(request, send, signal) {
      for (const podSandboxes of parts((await lists.listPodSandbox(request, signal)).items)) send({ podSandboxes });
    },
    async streamContainers(request, send, signal) {
      for (const containers of parts((await lists.listContainers(request, signal)).containers)) send({ containers });
    },
    async streamContainerStats(request, send, signal) {
      for (const containerStats of parts((await lists.listContainerStats(request, signal)).stats))
        send({ containerStats });
    },
    async streamPodSandboxStats(request, send, signal) {
      for (const podSandboxStats of parts((await lists.listPodSandboxStats(request, signal)).stats))
        send({ podSandboxStats });
    },
    async streamPodSandboxMetrics(request, send, signal) {
      for (const podSandboxMetrics of parts((await lists.listPodSandboxMetrics(request, signal)).podMetrics))
        send({ podSandboxMetrics });
    },
    async streamImages(request, send, signal) {
      for (const images of parts((await lists.listImages(request, signal)).images)) send({ images });
    },
  };
}

function* parts<T>(all: readonly T[]): Generator<T[]> {
  for (let at = 0; at < all.length; at += PART) yield all.slice(at, at + PART);
}
