// exec, attach and portForward: the runtime returns an address, and the client's connection is connected to it.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { queryOf } from "../../../shared/io/http/target.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { CriNotFoundError, CriResourceExhaustedError, grpcText } from "../../../shared/kubernetes/cri/errors.js";
import { podUid, type PodUid } from "../../../shared/kubernetes/identifiers.js";
import { withoutToken } from "../auth/bearer.js";
import type { Answer, Route, Upgrade } from "../http/answer.js";
import type { RoutePath, TreeName } from "../http/paths.js";
import { replyError, replyPlain } from "../http/reply.js";
import type { PodList } from "../pods/pod-list.js";
import {
  containerSpec,
  UnknownPodError,
  podOf,
  readySandbox,
  runningContainer,
  type MirrorUid,
} from "../pods/pod-lookup.js";
import type { ServedRuntime } from "../pods/runtime.js";
import type { StreamMetrics } from "./metrics.js";
import { rawPassthrough, type Passthrough } from "./passage.js";
import { runtimeUrl } from "./runtime-url.js";
import { forwardedPorts, streamOptions, StreamOptionsError, type StreamOptions } from "./stream-options.js";
import { RETRY_AFTER, type Tunnels } from "./tunnel.js";
import { HandshakeError, isWebSocket, offersV5, tunnelledProtocols } from "./websocket/offer.js";
export interface StreamDeps {
  pods: PodList;
  runtime: () => Promise<ServedRuntime>;
  tunnels: Tunnels;
  mirrorUid: MirrorUid;
  /** The feature gate: WebSocket v5 and tunnelled SPDY are translated here. */
  extendWebSockets: boolean;
  metrics: StreamMetrics;
  clock: Clock;
}

/** The address at which the runtime serves the stream. */
interface Served {
  url: string;
  /** Translates between the protocols of the client and of the runtime; absent: they are the same. */
  passage?: () => Promise<Passthrough>;
}
/** A stream with its options. */
interface Stream {
  /** Id of what the stream goes to. Rejects with an OperatorError if it does not run. */
  target(runtime: ServedRuntime, pod: Pod, container: string): Promise<string>;
  /** Calls the runtime for the address. */
  serve(runtime: ServedRuntime, id: string, pod: Pod, container: string): Promise<Served>;
}
/** Parses the options of the stream. @throws StreamOptionsError */
type Kind = (query: URLSearchParams, request: IncomingMessage, deps: StreamDeps) => Stream;

export function streamRoutes(deps: StreamDeps): Route[] {
  const both = (name: TreeName, rest: string, kind: Kind): Route[] => {
    const answer = stream(deps, kind);
    const route = (path: RoutePath): Route => ({ path, service: `/${name}`, methods: ["GET", "POST"], answer });
    return [route(`/${name}/:namespace/:pod${rest}`), route(`/${name}/:namespace/:pod/:uid${rest}`)];
  };
  return [
    ...both("exec", "/:container", exec),
    ...both("attach", "/:container", attach),
    ...both("portForward", "", portForward),
  ];
}

const exec: Kind = (query, request, deps) => {
  const options = streamOptions(query);
  return {
    target: runningContainer,
    serve: async (runtime, containerId) => {
      const { url } = await runtime.exec({ containerId, cmd: query.getAll("command"), ...options });
      return { url, ...translated("exec", options, request, deps) };
    },
  };
};

/** Whether there is a terminal was settled when the container was made. */
const attach: Kind = (query, request, deps) => {
  const asked = streamOptions(query);
  return {
    target: (runtime, pod, container) => runningContainer(runtime, pod, container, attachMissing),
    serve: async (runtime, containerId, pod, container) => {
      const tty = containerSpec(pod, container)?.tty ?? false;
      const options = { ...asked, tty, stderr: asked.stderr && !tty };
      const { url } = await runtime.attach({ containerId, ...options });
      return { url, ...translated("attach", options, request, deps) };
    },
  };
};

function attachMissing({ metadata: { name, namespace } }: Pod, container: string): string {
  return `container ${container} not found in pod ${name}_${namespace}`;
}

const portForward: Kind = (query, request, { extendWebSockets, metrics, clock }) => {
  const protocols = extendWebSockets ? tunnelledProtocols(request) : [];
  const port = forwardedPorts(query, isWebSocket(request) && protocols.length === 0);
  return {
    target: readySandbox,
    serve: async (runtime, podSandboxId) => {
      const { url } = await runtime.portForward({ podSandboxId, port });
      if (protocols.length === 0) return { url };
      metrics.websocket("portforward");
      const passage = async (): Promise<Passthrough> =>
        (await import("./port-forward.js")).tunnelledPortForward(request, protocols, clock);
      return { url, passage };
    },
  };
};

function translated(
  subresource: "exec" | "attach",
  options: StreamOptions,
  request: IncomingMessage,
  { extendWebSockets, metrics, clock }: StreamDeps,
): Pick<Served, "passage"> {
  if (!extendWebSockets || !offersV5(request)) return {};
  metrics.websocket(subresource);
  return {
    passage: async () => (await import("./remote-command.js")).translatedCommand(request, options, clock),
  };
}

function stream(deps: StreamDeps, kind: Kind): Answer {
  return async (request, response, { target, params }, upgrade) => {
    const { namespace = "", pod: name = "", uid = "", container = "" } = params;
    try {
      const wanted = kind(queryOf(target), request, deps);
      const pod = await podOf(deps.pods, { namespace, name, uid: podUid(uid) }, deps.mirrorUid);
      if (upgrade === undefined) {
        // As upstream: a container that does not run is the first error. No address is made for nothing.
        await wanted.target(await deps.runtime(), pod, container);
        replyError(response, 500, "Upgrade request required");
        return;
      }
      if (!deps.tunnels.admit(response, pod.metadata.uid)) return;
      const runtime = await deps.runtime();
      const served = await wanted.serve(runtime, await wanted.target(runtime, pod, container), pod, container);
      const url = runtimeUrl(served.url);
      const passage = (await served.passage?.()) ?? rawPassthrough(request, withoutToken);
      await open(deps, response, upgrade, url, passage, pod.metadata.uid);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const status = statusOf(error);
      replyPlain(response, status, grpcText(error), status === 429 ? { "Retry-After": RETRY_AFTER } : {});
    }
  };
}

async function open(
  { tunnels }: StreamDeps,
  response: ServerResponse,
  upgrade: Upgrade,
  url: URL,
  passage: Passthrough,
  pod: PodUid,
): Promise<void> {
  if (upgrade.socket.destroyed) return;
  await tunnels.connect(response, upgrade, url, passage, pod);
}

function statusOf(error: Error): number {
  if (error instanceof StreamOptionsError || error instanceof HandshakeError) return 400;
  if (error instanceof UnknownPodError || error instanceof CriNotFoundError) return 404;
  return error instanceof CriResourceExhaustedError ? 429 : 500;
}
