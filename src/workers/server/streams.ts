// exec, attach and portForward: the runtime is asked for an address, and the client's connection is joined to it.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Pod } from "../../shared/api/pod.js";
import { isNotFound, isResourceExhausted } from "../../shared/cri/errors.js";
import type { Answer, Route, Upgrade } from "./answer.js";
import type { PodList } from "./pod-list.js";
import { containerSpec, isUnknownPod, podOf, readySandbox, runningContainer } from "./pod-lookup.js";
import { queryOf, replyError, replyPlain } from "./reply.js";
import type { ServedRuntime } from "./runtime.js";
import { runtimeUrl } from "./streams/runtime-url.js";
import { forwardedPorts, streamOptions, StreamOptionsError } from "./streams/stream-options.js";
import type { Tunnels } from "./streams/tunnel.js";

export interface StreamParts {
  pods: PodList;
  runtime: () => Promise<ServedRuntime>;
  tunnels: Tunnels;
}

/** Asks the runtime for an address. */
type Address = (runtime: ServedRuntime, pod: Pod, container: string) => Promise<string>;
/** Reads what is asked for. @throws StreamOptionsError */
type Kind = (query: URLSearchParams, request: IncomingMessage) => Address;

export function streamRoutes(parts: StreamParts): Route[] {
  const route = (path: string, answer: Answer): Route => ({ path, methods: ["GET", "POST"], answer });
  const both = (name: string, rest: string, kind: Kind): Route[] => {
    const answer = stream(parts, kind);
    return [route(`/${name}/:namespace/:pod${rest}`, answer), route(`/${name}/:namespace/:pod/:uid${rest}`, answer)];
  };
  return [
    ...both("exec", "/:container", exec),
    ...both("attach", "/:container", attach),
    ...both("portForward", "", portForward),
  ];
}

const exec: Kind = (query) => {
  const options = streamOptions(query);
  return async (runtime, pod, container) => {
    const containerId = await runningContainer(runtime, pod, container);
    return (await runtime.exec({ containerId, cmd: query.getAll("command"), ...options })).url;
  };
};

/** Whether there is a terminal was settled when the container was made. */
const attach: Kind = (query) => {
  const options = streamOptions(query);
  return async (runtime, pod, container) => {
    const containerId = await runningContainer(runtime, pod, container);
    const tty = containerSpec(pod, container)?.tty ?? false;
    return (await runtime.attach({ containerId, ...options, tty, stderr: options.stderr && !tty })).url;
  };
};

const portForward: Kind = (query, request) => {
  const port = forwardedPorts(query, isWebSocket(request));
  return async (runtime, pod) => {
    const podSandboxId = await readySandbox(runtime, pod);
    return (await runtime.portForward({ podSandboxId, port })).url;
  };
};

function stream(parts: StreamParts, kind: Kind): Answer {
  return async (request, response, params, upgrade) => {
    const { namespace = "", pod: name = "", uid = "", container = "" } = params;
    try {
      const address = kind(queryOf(request), request);
      const pod = podOf(parts.pods, namespace, name, uid);
      if (upgrade === undefined) {
        replyError(response, 400, "Upgrade request required");
        return;
      }
      if (!parts.tunnels.admit(response)) return;
      const url = runtimeUrl(await address(await parts.runtime(), pod, container));
      await open(parts, request, response, upgrade, url);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      replyPlain(response, statusOf(error), error.message);
    }
  };
}

async function open(
  { tunnels }: StreamParts,
  request: IncomingMessage,
  response: ServerResponse,
  upgrade: Upgrade,
  url: URL,
): Promise<void> {
  if (upgrade.socket.destroyed) return;
  await tunnels.connect(request, response, upgrade, url);
}

function statusOf(error: Error): number {
  if (error instanceof StreamOptionsError) return 400;
  if (isUnknownPod(error) || isNotFound(error)) return 404;
  return isResourceExhausted(error) ? 429 : 500;
}

function isWebSocket({ headers }: IncomingMessage): boolean {
  return (headers.upgrade ?? "").toLowerCase() === "websocket";
}
