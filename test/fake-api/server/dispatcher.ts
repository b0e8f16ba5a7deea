// One request from its first byte to its answer: log, faults, who, whether, what. Every refusal is a Status.
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { authenticate } from "../access/authenticate.js";
import { authorize, refusalText } from "../access/authorize.js";
import type { ApiCall, CallLog } from "../call-log.js";
import { ApiError, forbidden, internalError, noSuchResource } from "../errors.js";
import type { Faults } from "../faults.js";
import { isServedGroup } from "../resources.js";
import type { User, World } from "../world.js";
import type { Watches, WatchSink } from "../verbs/watch.js";
import { PROTOBUF_TYPE } from "../../../src/shared/api/client/call/body.js";
import { mediaType, parseBody, readBody, type ApiRequest } from "./body.js";
import { document } from "./discovery.js";
import { namespaceOf, perform, type Call } from "./operations.js";
import { checkAccept, dropConnection, sendObject, sendText, type ApiResponse } from "./reply.js";
import { toFrame, wantsProtobuf } from "./protobuf.js";
import { requestInfo, type RequestInfo } from "./request-info.js";

/** A client this far behind loses its watch. */
const SLOW_WATCH_BYTES = 64 * 1024 * 1024;

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
    const info = requestInfo(request.method ?? "GET", path, query);
    const entry = this.#logged(info, request);
    const gone = new AbortController();
    response.on("close", () => gone.abort());
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
      await this.#serve(request, response, { info, query, user, bytes, entry, dropsAfter });
    } catch (error) {
      if (error instanceof Answered) return;
      if (error instanceof Dropped) dropConnection(request);
      else await this.#refuse(request, response, error, entry);
    } finally {
      entry.durationMs = this.world.clock.monotonic() - began;
    }
  }

  async #serve(
    request: ApiRequest,
    response: ApiResponse,
    { info, query, user, bytes, entry, dropsAfter }: Served,
  ): Promise<void> {
    if (info.group !== "" && info.isResource && !isServedGroup(info.group)) {
      entry.code = 404;
      sendText(response, 404, "404 page not found\n");
      return;
    }
    this.#authorize(info, query, user);
    if (!info.isResource) {
      const found = document(info.path);
      entry.code = found === undefined ? 404 : 200;
      if (found === undefined) sendText(response, 404, "404 page not found\n");
      else if (typeof found === "string") sendText(response, 200, found);
      else await sendObject(request, response, 200, JSON.stringify(found));
      return;
    }
    checkAccept(request);
    if (info.verb === "watch") {
      entry.code = 200;
      await this.#watch(info, query, sinkOf(request, response, entry));
      return;
    }
    const type = mediaType(request);
    const call: Call = { world: this.world, user, info, query, mediaType: type, body: parseBody(bytes, type) };
    const answer = await perform(call);
    if (dropsAfter) throw new Dropped();
    entry.code = answer.code;
    const sent = await sendObject(request, response, answer.code, answer.text);
    Object.assign(entry, { answerBytes: sent.bytes, answerType: sent.type });
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

interface Served {
  info: RequestInfo;
  query: URLSearchParams;
  user: User;
  bytes: Buffer;
  entry: ApiCall;
  dropsAfter: boolean;
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

/** Lines in the encoding that the client prefers, counted in the entry. */
function sinkOf(request: ApiRequest, response: ApiResponse, entry: ApiCall): WatchSink {
  const out = response as ServerResponse;
  const isProtobuf = wantsProtobuf(request);
  const type = isProtobuf ? `${PROTOBUF_TYPE};stream=watch` : "application/json";
  return {
    open: () => {
      entry.answerType = type;
      out.writeHead(200, { "content-type": type, "cache-control": "no-cache, private" });
      out.flushHeaders();
    },
    write: (line) => {
      const bytes = isProtobuf ? toFrame(line) : Buffer.from(line);
      entry.events++;
      entry.answerBytes += bytes.length;
      out.write(bytes);
      if (out.writableLength > SLOW_WATCH_BYTES) dropConnection(request);
    },
    taken: async () => {
      if (out.writableLength <= out.writableHighWaterMark || out.closed) return;
      const over = new AbortController();
      const { signal } = over;
      // An error is followed by the end of the watch.
      const events = ["drain", "close"].map((name) => once(out, name, { signal }).catch(() => undefined));
      await Promise.race(events);
      over.abort();
    },
    end: (how) => {
      if (how === "drop") dropConnection(request);
      else out.end();
    },
    onClose: (fn) => void out.once("close", fn),
  };
}
