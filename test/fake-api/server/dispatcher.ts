// One request from its first byte to its answer: log, faults, who, whether, what. Every refusal is a Status.

import { once } from "node:events";
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { document } from "../../../src/workers/apiserver/discovery/documents.js";
import {
  ApiError,
  badRequest,
  forbidden,
  internalError,
  noSuchResource,
} from "../../../src/workers/apiserver/objects/errors.js";
import type { Fields } from "../../../src/workers/apiserver/objects/object.js";
import { requestInfo, type RequestInfo } from "../../../src/workers/apiserver/objects/request-info.js";
import { eventsInForm, formOf, inForm, type EventInForm } from "../../../src/workers/apiserver/printing/forms.js";
import { authenticate } from "../access/authenticate.js";
import { authorize, refusalText } from "../access/authorize.js";
import type { ApiCall, CallLog } from "../call-log.js";
import type { Faults } from "../faults.js";
import { proxyRequest, streamLog, tunnel } from "../kubelet/connection.js";
import { isServedByKubelet, locationOf } from "../kubelet/location.js";
import { ALL, isServedGroup, laterResourceAt, resourceAt } from "../resources.js";
import type { Watches, WatchSink } from "../verbs/watch.js";
import type { User, World } from "../world.js";
import { mediaType, parseBody, readBody, type ApiRequest } from "./body.js";
import { namespaceOf, perform, type Call } from "./operations.js";
import { checkAccept, dropConnection, send, sendObject, sendText, type ApiResponse } from "./reply.js";
import { sinkOf } from "./watch-sink.js";

export class Dispatcher {
  constructor(
    private readonly world: World,
    private readonly calls: CallLog,
    private readonly faults: Faults,
    private readonly watches: Watches,
  ) {}

  async handle(request: ApiRequest, response: ApiResponse, socket: TLSSocket): Promise<void> {
    const [path = "/", search = ""] = (request.url ?? "/").split("?", 2);
    const query = new URLSearchParams(search);
    const info = requestInfo(
      request.method ?? "GET",
      { path, segments: path.slice(1).split("/").map(decoded) },
      query,
      resourceAt,
    );
    if (this.world.settings.later) info.served = laterResourceAt(info.group, info.version, info.resource);
    const entry = this.#logged(info, request);
    const gone = new AbortController();
    response.on("close", () => gone.abort(GONE));
    const began = this.world.clock.monotonic();
    try {
      const dropsAfter = await this.#faultsBefore(entry, response, gone.signal);
      const bytes = await readBody(request);
      entry.requestBytes = bytes.length;
      entry.requestType = bytes.length === 0 ? "" : mediaType(request);
      // Half a request: its client does not wait for a response.
      if (gone.signal.aborted) throw new Dropped();
      const user = authenticate(this.world, socket, request.headers.authorization);
      entry.user = user.name;
      await this.#serve(request, response, { info, query, user, bytes, entry, dropsAfter, gone: gone.signal });
    } catch (error) {
      if (error instanceof Answered) return;
      if (error instanceof Dropped) dropConnection(request);
      else await this.#refuse(request, response, error, entry);
    } finally {
      entry.durationMs = this.world.clock.monotonic() - began;
    }
  }

  /** A stream to a kubelet. A refusal is an ordinary response. */
  async upgrade(request: IncomingMessage, socket: TLSSocket, head: Buffer): Promise<void> {
    const [path = "/", search = ""] = (request.url ?? "/").split("?", 2);
    const query = new URLSearchParams(search);
    const info = requestInfo(
      request.method ?? "GET",
      { path, segments: path.slice(1).split("/").map(decoded) },
      query,
      resourceAt,
    );
    // A GET that becomes a stream acts; it needs the right to create.
    if (info.isResource && info.subresource !== "proxy") info.verb = "create";
    const entry = this.#logged(info, request);
    const began = this.world.clock.monotonic();
    try {
      const user = authenticate(this.world, socket, request.headers.authorization);
      entry.user = user.name;
      this.#authorize(info, query, user);
      const location = isServedByKubelet(info) ? locationOf(this.world, info, query) : undefined;
      if (location === undefined) throw badRequest("the request asks for another protocol, which it has not");
      entry.code = 101;
      await tunnel(this.world, location, request, { socket, head });
    } catch (error) {
      const sent = error instanceof ApiError ? error : internalError(textOf(error));
      entry.code = sent.code;
      const body = JSON.stringify(sent.toStatus());
      const lines = [
        `HTTP/1.1 ${sent.code} ${STATUS_CODES[sent.code] ?? ""}`,
        "Content-Type: application/json",
        `Content-Length: ${Buffer.byteLength(body)}`,
        "Connection: close",
      ];
      socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
    } finally {
      entry.durationMs = this.world.clock.monotonic() - began;
    }
  }

  async #serve(
    request: ApiRequest,
    response: ApiResponse,
    { info, query, user, bytes, entry, dropsAfter, gone }: Served,
  ): Promise<void> {
    if (info.group !== "" && info.isResource && !isServedGroup(info.group)) {
      entry.code = 404;
      sendText(response, 404, "404 page not found\n");
      return;
    }
    this.#authorize(info, query, user);
    if (!info.isResource) {
      const asked = { accept: request.headers.accept ?? "", isVerbose: query.has("verbose") };
      const found = document(info.path, asked, ALL);
      entry.code = found === undefined ? 404 : 200;
      const { body, type } = found ?? { body: "404 page not found\n", type: "text/plain; charset=utf-8" };
      if (typeof body === "string" && type === "application/json") await sendObject(request, response, 200, body);
      else send(response, entry.code, Buffer.from(body), { "content-type": type });
      return;
    }
    if (isServedByKubelet(info)) {
      await this.#askKubelet(request, response, { info, query, bytes, entry, gone });
      return;
    }
    checkAccept(request);
    const form = formOf(request.headers.accept);
    const table = form === "Object" ? undefined : info.served;
    if (info.verb === "watch") {
      entry.code = 200;
      const lines = table === undefined ? undefined : linesOf(eventsInForm(form, table, query, this.world.clock));
      await this.#watch(info, query, sinkOf(request, response, entry, lines));
      return;
    }
    const type = mediaType(request);
    const call: Call = { world: this.world, user, info, query, mediaType: type, body: parseBody(bytes, type) };
    const answer = await perform(call);
    if (dropsAfter) throw new Dropped();
    entry.code = answer.code;
    const isShown = form !== "Object" && table !== undefined && ["get", "list"].includes(info.verb);
    const text = isShown
      ? inForm(form, table, JSON.parse(answer.text) as Fields, query, this.world.clock.now())
      : answer.text;
    const sent = await sendObject(request, response, answer.code, text);
    Object.assign(entry, { answerBytes: sent.bytes, answerType: sent.type });
  }

  async #askKubelet(
    request: ApiRequest,
    response: ApiResponse,
    { info, query, bytes, entry, gone }: Pick<Served, "info" | "query" | "bytes" | "entry" | "gone">,
  ): Promise<void> {
    const location = locationOf(this.world, info, query);
    if (location === undefined) {
      entry.code = 200;
      sendText(response, 200, "");
    } else if (info.subresource === "proxy") {
      entry.code = await proxyRequest(this.world, location, request, { response, body: bytes, signal: gone });
    } else if (info.subresource === "log") {
      await streamLog(this.world, location, response, gone);
      entry.code = 200;
    } else throw badRequest("Upgrade request required");
  }

  #authorize(info: RequestInfo, query: URLSearchParams, user: User): void {
    const attributes = { ...info, fieldSelector: query.get("fieldSelector") ?? "" };
    const { allowed, reason } = authorize(this.world, user, attributes);
    if (allowed) return;
    const why = refusalText(user, attributes, reason);
    const of = { group: info.group, resource: info.resource, kind: "" };
    if (info.isResource) throw forbidden(of, info.name, why);
    throw new ApiError(403, "Forbidden", `forbidden: ${why}`, {});
  }

  async #watch(info: RequestInfo, query: URLSearchParams, sink: WatchSink): Promise<void> {
    const resource = info.served;
    if (resource === undefined) throw noSuchResource();
    if (info.name !== "" && !query.has("fieldSelector")) query.set("fieldSelector", `metadata.name=${info.name}`);
    await this.watches.serve(this.world, resource, namespaceOf({ info }, resource), query, sink);
  }

  #logged({ verb, resource, subresource, namespace, name }: RequestInfo, request: ApiRequest): ApiCall {
    const entry: ApiCall = {
      verb,
      resource,
      subresource,
      namespace,
      name,
      path: request.url ?? "/",
      userAgent: request.headers["user-agent"] ?? "",
      user: "",
      at: this.world.clock.now(),
      code: 0,
      durationMs: 0,
      requestBytes: 0,
      requestType: "",
      answerType: "",
      answerBytes: 0,
      events: 0,
    };
    this.calls.add(entry);
    return entry;
  }

  /** Gives whether the answer is to be lost. */
  async #faultsBefore(entry: ApiCall, response: ApiResponse, gone: AbortSignal): Promise<boolean> {
    for (const action of this.faults.take(entry)) {
      switch (action.kind) {
        case "delay":
          await this.world.clock.sleep(action.ms, gone).catch(() => undefined);
          break;
        case "hang":
          if (!action.over.aborted && !gone.aborted) {
            await Promise.race([once(action.over, "abort"), once(gone, "abort")]);
          }
          break;
        case "fail": {
          const { code, message, reason = "", retryAfter } = action.failure;
          const details = retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter };
          throw new ApiError(code, reason === "" ? reasonOf(code) : reason, message ?? `fault: ${code}`, details);
        }
        case "answer":
          entry.code = 200;
          await action.write(response as ServerResponse, entry, gone);
          throw new Answered();
        case "drop":
          if (action.when === "before") throw new Dropped();
          return true;
      }
    }
    return false;
  }

  async #refuse(request: ApiRequest, response: ApiResponse, error: unknown, entry: ApiCall): Promise<void> {
    const sent = error instanceof ApiError ? error : internalError(textOf(error));
    entry.code = sent.code;
    const retryAfter = sent.details?.retryAfterSeconds;
    const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
    await sendObject(request, response, sent.code, JSON.stringify(sent.toStatus()), headers);
  }
}

/** Reason of the signal: each reason that Node makes takes a stack. */
const GONE = "the client has left";

interface Served {
  info: RequestInfo;
  query: URLSearchParams;
  user: User;
  bytes: Buffer;
  entry: ApiCall;
  dropsAfter: boolean;
  /** The client has left, or has its response. */
  gone: AbortSignal;
}

/** The connection is to be broken instead of an answer. */
class Dropped extends Error {}

/** A fault has written the answer. */
class Answered extends Error {}

const REASONS: Readonly<Record<number, string>> = {
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

function reasonOf(code: number): string {
  return REASONS[code] ?? "";
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Events of a watch as lines, in the form of the client. */
function linesOf(inForm: EventInForm): (line: string) => string {
  return (line) => {
    const { type, object } = JSON.parse(line) as { type: string; object: Fields };
    return inForm(type, object) ?? line;
  };
}
