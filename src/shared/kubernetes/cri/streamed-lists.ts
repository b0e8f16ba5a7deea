// List calls through the streams of CRI 1.36 (gate CRIListStreaming): a list that does not fit into one message arrives
// in parts.
// Invariant: a runtime without the stream of a list gets one request for that stream; from then on the unary call is
// used.

import { criError, CriUnimplementedError } from "./errors.js";
import type { CallOptions, CriCalls, CriVerb } from "./verbs.js";

/** The lists that upstream streams. */
type Lists =
  | "listPodSandbox"
  | "listContainers"
  | "listContainerStats"
  | "listPodSandboxStats"
  | "listPodSandboxMetrics"
  | "listImages";

/** Most items of one list. No node has as many; a stream must end. */
export const MAX_ITEMS = 200_000;

export function streamedLists(calls: CriCalls): Pick<CriCalls, Lists> {
  return {
    listPodSandbox: streamed(
      "StreamPodSandboxes",
      calls.listPodSandbox,
      (request, options) => calls.streamPodSandboxes(request, options),
      ({ podSandboxes }) => podSandboxes,
      (items) => ({ items }),
    ),
    listContainers: streamed(
      "StreamContainers",
      calls.listContainers,
      (request, options) => calls.streamContainers(request, options),
      ({ containers }) => containers,
      (containers) => ({ containers }),
    ),
    listContainerStats: streamed(
      "StreamContainerStats",
      calls.listContainerStats,
      (request, options) => calls.streamContainerStats(request, options),
      ({ containerStats }) => containerStats,
      (stats) => ({ stats }),
    ),
    listPodSandboxStats: streamed(
      "StreamPodSandboxStats",
      calls.listPodSandboxStats,
      (request, options) => calls.streamPodSandboxStats(request, options),
      ({ podSandboxStats }) => podSandboxStats,
      (stats) => ({ stats }),
    ),
    listPodSandboxMetrics: streamed(
      "StreamPodSandboxMetrics",
      calls.listPodSandboxMetrics,
      (_request, options) => calls.streamPodSandboxMetrics({}, options),
      ({ podSandboxMetrics }) => podSandboxMetrics,
      (podMetrics) => ({ podMetrics }),
    ),
    listImages: streamed(
      "StreamImages",
      calls.listImages,
      (request, options) => calls.streamImages(request, options),
      ({ images }) => images,
      (images) => ({ images }),
    ),
  };
}

function streamed<Request, Reply, Part, Item>(
  verb: CriVerb,
  list: (request: Request, options?: CallOptions) => Promise<Reply>,
  stream: (request: Request, options: CallOptions | undefined) => AsyncIterable<Part>,
  itemsOf: (part: Part) => readonly Item[],
  replyOf: (items: Item[]) => Reply,
): (request: Request, options?: CallOptions) => Promise<Reply> {
  let offered = true;
  return async (request, options) => {
    if (!offered) return list(request, options);
    try {
      const items: Item[] = [];
      for await (const part of stream(request, options)) {
        for (const item of itemsOf(part)) items.push(item);
        if (items.length > MAX_ITEMS) throw tooMany(verb);
      }
      return replyOf(items);
    } catch (error) {
      if (!(error instanceof CriUnimplementedError)) throw error;
      offered = false;
      return list(request, options);
    }
  };
}

function tooMany(verb: CriVerb): Error {
  const details = `the runtime sent more than ${MAX_ITEMS} items`;
  return criError({ verb, subject: "", endpoint: "", code: "RESOURCE_EXHAUSTED", details });
}
