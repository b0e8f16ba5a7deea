// One request of the API from its head to its answer: who, what, whether, and who does it. The request is read once;
// verb and resource of that reading are authorised, and the same values are served. Every refusal is a Status.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { ReadRequest } from "../../../shared/io/http/read-request.js";
import { queryOf } from "../../../shared/io/http/target.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { authenticate } from "../../server/auth/authenticator.js";
import type { User } from "../../server/auth/user.js";
import { networkOf } from "../../server/clients/network.js";
import { HandlerError } from "../../server/clients/owned.js";
import type { Upgrade } from "../../server/http/answer.js";
import type { Entered } from "../../server/http/entry.js";
import { Bodies } from "../../server/http/whole-body.js";
import type { Gate, PortSide } from "../../server/ports/secure-port.js";
import { document } from "../discovery/documents.js";
import { proxyRequest, streamLog, tunnel } from "../kubelet/kubelet-socket.js";
import { podPath, STREAMS } from "../kubelet/pod-path.js";
import { usage } from "../kubelet/usage.js";
import {
  badRequest,
  forbidden,
  methodNotAllowed,
  noSuchResource,
  notFound,
  notServed,
  tooManyRequests,
  unauthorized,
  type ApiError,
} from "../objects/errors.js";
import { requestInfo, type RequestInfo } from "../objects/request-info.js";
import type { Resource } from "../objects/resource.js";
import { DISCOVERED, METRICS, resourceAt, REVIEWS } from "../objects/resources.js";
import { formOf, inForm } from "../printing/forms.js";
import { keyOf } from "../store/tables.js";
import type { World } from "../world.js";
import { hasAllRights, isAllowed, refusalText, review, type IsReader } from "./access.js";
import { MAX_BODY_BYTES, mediaType, objectBody, parseBody } from "./body.js";
import { answerOf, checkSubresource, perform } from "./operations.js";
import { READER_SHARE, READER_STREAMS, ReaderShare, type Place } from "./reader-share.js";
import { send, sendError, sendJson, warningHeaders } from "./reply.js";
import type { Watches } from "./watches.js";

const NO_PAGE = { body: "404 page not found\n", type: "text/plain; charset=utf-8" };
/** Bodies in memory at once: a burst of the kubelet's statuses. */
const MOST_BODIES = 64;
/** Readers send reviews only. */
const READER_BODY_BYTES = 64 * 1024;

export interface ApiGateOptions {
  world: World;
  watches: Watches;
  adminSocket: string;
  isReader: IsReader;
  log: Logger;
}

interface Served {
  request: IncomingMessage;
  response: ServerResponse;
  info: RequestInfo;
  query: URLSearchParams;
  user: User;
  /** Its client is bounded with all readers; undefined: it may do everything. */
  share: ReaderShare | undefined;
  upgrade: Upgrade | undefined;
  signal: AbortSignal;
}

/** A request under way: who may no longer make it loses it. */
interface Open {
  user: User;
  info: RequestInfo;
  end: () => void;
}

export class ApiGate implements Gate {
  readonly #bodies: Bodies;
  readonly #open = new Set<Open>();
  readonly #readersBodies: Bodies;
  readonly #share: ReaderShare;

  constructor(
    private readonly options: ApiGateOptions,
    private readonly port: PortSide,
  ) {
    this.#share = new ReaderShare(options.world.clock);
    const limits = { bytes: MAX_BODY_BYTES, atOnce: MOST_BODIES, what: "objects" };
    this.#bodies = new Bodies(options.world.clock, limits);
    const ofReaders = { ...limits, bytes: READER_BODY_BYTES, atOnce: READER_SHARE.requests };
    this.#readersBodies = new Bodies(options.world.clock, ofReaders);
  }

  readonly handle: Entered = (request, response, read, upgrade) => {
    const gone = new AbortController();
    (upgrade?.socket ?? response).once("close", () => gone.abort());
    this.#answer(request, response, read, upgrade, gone.signal).catch((error: unknown) => {
      request.resume();
      try {
        if (!gone.signal.aborted) sendError(response, error, this.options.log);
      } catch (cause) {
        response.destroy(new HandlerError("a request failed", { cause }));
      }
    });
  };

  /** Rights have changed: watches, logs and whatever else is open ends for a user who may not begin it now. */
  endRefused(): void {
    for (const { user, info, end } of this.#open) if (!isAllowed(this.options.isReader, user, info)) end();
  }

  readonly onMalformed: Gate["onMalformed"] = (request, response, why) => {
    const { method = "", url = "" } = request;
    this.#noteRefusal(request, response, { status: 400, why, method, path: url });
  };

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    { method, target }: ReadRequest,
    upgrade: Upgrade | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    // The connection does not wait for the rest of a body that no handler reads.
    if (request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0) {
      response.shouldKeepAlive = request.httpVersionMajor > 1;
    }
    const query = queryOf(target);
    const info = requestInfo(method, target, query, resourceAt);
    // A GET that becomes a stream acts: it needs the right to create.
    if (info.isResource && STREAMS.includes(info.subresource)) info.verb = "create";
    const user = await this.#userOf(request);
    const share = user === undefined || hasAllRights(user) ? undefined : this.#share;
    const refuse = (error: ApiError, why: string): never => {
      const refusal = { status: error.code, why, method, path: target.path, user: user?.name };
      this.#noteRefusal(request, response, refusal);
      this.#endAfterRefusals(share, request, response);
      throw error;
    };
    if (user === undefined) return refuse(unauthorized(), "no certificate of this node's API");
    if (!isAllowed(this.options.isReader, user, info)) {
      const why = refusalText(user, info);
      const { group, resource, name } = info;
      return refuse(forbidden({ group, resource: info.isResource ? resource : "", kind: "" }, name, why), why);
    }
    // What serves it sees only a later "close": a watch would go on without its client.
    if (signal.aborted) return;
    try {
      share?.enter(request.socket, placeOf(info), signal);
    } catch (error) {
      // Such a connection has no place among the authorised ones.
      this.port.refused(request.socket, response);
      this.#endAfterRefusals(share, request, response);
      throw error;
    }
    if (!this.port.authorised(request.socket, user.name, share === undefined ? undefined : READER_STREAMS)) {
      this.port.endAfter(request.socket, response);
      throw tooManyRequests(`${user.name} has too many connections`, 1);
    }
    const stream = upgrade?.socket ?? response;
    const open: Open = { user, info, end: () => stream.destroy() };
    this.#open.add(open);
    signal.addEventListener("abort", () => this.#open.delete(open), { once: true });
    if (!target.isUtf8) throw noSuchResource();
    await this.#serve({ request, response, info, query, user, share, upgrade, signal });
  }

  #endAfterRefusals(share: ReaderShare | undefined, { socket }: IncomingMessage, response: ServerResponse): void {
    if (share?.refuse(socket) === true) this.port.endAfter(socket, response);
  }

  #bodiesOf({ share }: Pick<Served, "share">): Bodies {
    return share === undefined ? this.#bodies : this.#readersBodies;
  }

  async #userOf(request: IncomingMessage): Promise<User | undefined> {
    const certificate = this.port.peers.claimOf(request.socket, this.options.world.clock.now());
    const network = networkOf(request.socket.remoteAddress);
    const who = await authenticate({ certificate, token: undefined, network }, { tokens: undefined, anonymous: false });
    return who.kind === "user" ? who.user : undefined;
  }

  async #serve(served: Served): Promise<void> {
    const { request, response, info, share, upgrade, signal } = served;
    const resource = info.served;
    await share?.turn();
    if (signal.aborted) return;
    if (!info.isResource) {
      const asked = { accept: request.headers.accept ?? "", isVerbose: served.query.has("verbose") };
      const found = info.verb === "get" ? document(info.path, asked, DISCOVERED) : undefined;
      request.resume();
      const { body, type } = found ?? NO_PAGE;
      share?.sending(body.length, signal);
      send(response, found === undefined ? 404 : 200, body, { "content-type": type });
      return;
    }
    if (resource === undefined) throw notServed(noSuchResource());
    if (info.subresource === "" && !resource.verbs.includes(info.verb)) throw notServed(methodNotAllowed());
    if (resource.key === "pods" && (info.subresource === "log" || STREAMS.includes(info.subresource))) {
      await this.#servePod(served, resource);
      return;
    }
    if (upgrade !== undefined) throw badRequest("the request asks for another protocol, which it has not");
    if (resource.key === "nodes" && info.subresource === "proxy") {
      await this.#serveNode(served);
      return;
    }
    if (info.verb === "watch") {
      const { namespace } = info;
      await this.options.watches.serve({ resource, namespace, query: served.query }, request, response);
      return;
    }
    await this.#bodiesOf(served).read(request, (body) => this.#operate(served, resource, body));
  }

  async #servePod({ request, response, info, query, upgrade, signal }: Served, resource: Resource): Promise<void> {
    const { world, adminSocket } = this.options;
    const pod = world.store.get(resource, keyOf(info.namespace, info.name));
    if (pod === undefined) throw notFound(resource, info.name);
    const path = podPath(pod, info.subresource, query);
    if (info.subresource === "log") await streamLog(adminSocket, path, response, signal);
    else if (upgrade === undefined) throw badRequest("Upgrade request required");
    else await tunnel(adminSocket, path, request, upgrade);
  }

  async #serveNode({ request, response, info, query, signal }: Served): Promise<void> {
    const { adminSocket, world } = this.options;
    const [, node = ""] = /^(?:https?:)?([^:]+)(?::\d*)?$/.exec(info.name) ?? [];
    if (node !== world.nodeName) throw notFound({ group: "", resource: "nodes", kind: "Node" }, node);
    const search = query.toString();
    const path = `${info.proxied === "" ? "/" : info.proxied}${search === "" ? "" : `?${search}`}`;
    const { method = "GET", headers } = request;
    // A response may be a stream without an end, and needs no place of a body.
    const body = await this.#bodies.read(request, (bytes) => Promise.resolve(bytes));
    await proxyRequest(adminSocket, { method, path, headers, body, signal }, response);
  }

  async #operate(
    { request, response, info, query, user, share, signal }: Served,
    resource: Resource,
    bytes: Uint8Array,
  ): Promise<void> {
    const { world, adminSocket, isReader } = this.options;
    const form = formOf(request.headers.accept);
    // Before the body is decoded: that of a subresource which is not served has no table.
    if (!REVIEWS.includes(resource) && !METRICS.includes(resource)) checkSubresource(resource, info);
    const type = mediaType(request);
    const body = parseBody(bytes, type);
    if (REVIEWS.includes(resource)) {
      sendJson(response, 201, JSON.stringify(review(world, isReader, resource, objectBody(body), user)));
      return;
    }
    const warnings: string[] = [];
    const { code, shown, text } = METRICS.includes(resource)
      ? answerOf(await usage(world, adminSocket, info, { resource, query, signal }))
      : await perform({ world, user, info, resource, query, mediaType: type, body, warnings });
    await share?.turn();
    share?.checkUnsent();
    const isShown = form !== "Object" && ["get", "list"].includes(info.verb);
    const sent = isShown ? inForm(form, resource, shown, query, world.clock.now()) : text();
    share?.sending(sent.length, signal);
    sendJson(response, code, sent, warningHeaders(warnings));
  }

  /** Before the response. */
  #noteRefusal(
    request: IncomingMessage,
    response: ServerResponse,
    refusal: { status: number; why: string; method: string; path: string; user?: string | undefined },
  ): void {
    this.port.refusals.request({ client: request.socket.remoteAddress ?? "", ...refusal });
    this.port.refused(request.socket, response);
  }
}

function placeOf({ isResource, verb, subresource }: RequestInfo): Place {
  if (isResource && subresource === "log") return "logs";
  return isResource && verb === "watch" ? "watches" : "requests";
}
