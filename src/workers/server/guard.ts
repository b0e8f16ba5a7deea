// The gate of the authenticated port: every request passes authentication and authorization before any route handles
// it.
// Invariant: a refused request costs little (no route, no runtime, no body read) and has its own line in the log.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../shared/clock/clock.js";
import type { ServerAuthMetrics } from "./auth/metrics.js";
import { faultPoint } from "../../shared/thread/fault-points.js";
import type { Upgrade } from "./answer.js";
import { isManifestPath, subresourcesOf, verbOf } from "./auth/attributes.js";
import { authenticate, type AuthenticatorOptions } from "./auth/authenticator.js";
import type { Authorizer } from "./auth/authorizer.js";
import { ANONYMOUS } from "./auth/user.js";
import { bearerToken } from "./auth/bearer.js";
import type { Peers } from "./auth/peers.js";
import type { Refusals } from "./auth/refusals.js";
import { TooManyReviewsError } from "./auth/review-turns.js";
import { HandlerError } from "./owned.js";
import type { HttpMetrics } from "./http-metrics.js";
import { networkOf } from "./network.js";
import { replyError, replyPlain, splitUrl } from "./reply.js";
import type { Lookup } from "./router.js";
import { messageOf } from "../../shared/errors/thrown.js";

/** More than any route reads but the manifest API, which has its own limit. */
const MAX_BODY_BYTES = 64 * 1024;

export interface GuardOptions {
  authenticator: AuthenticatorOptions;
  authorizer: Authorizer;
  refusals: Refusals;
  http: HttpMetrics;
  peers: Peers;
  metrics: ServerAuthMetrics;
  clock: Clock;
  /** A request of this connection may pass. */
  authorised(socket: Socket): void;
  /** A request of this connection may not pass; the response is not sent yet. */
  refused(socket: Socket, response: ServerResponse): void;
  /** Finds the handler of an authorised request. */
  lookup: Lookup;
}

export class Guard {
  constructor(private readonly options: GuardOptions) {}

  readonly handle = (request: IncomingMessage, response: ServerResponse, upgrade?: Upgrade): void => {
    const [path] = splitUrl(request.url ?? "/");
    const end = this.options.http.begin(request.method ?? "", path);
    let gone = false;
    (upgrade?.socket ?? response).once("close", () => {
      gone = true;
      end();
    });
    this.pass(request, response, path)
      .then(
        (passed) => {
          // A route sees only a later "close". It would serve a client that disconnected during the review for ever.
          if (!passed || gone) return;
          faultPoint("http-route");
          this.options.authorised(request.socket);
          this.options.lookup(request, response, upgrade);
        },
        (error: unknown) => {
          if (response.headersSent) return;
          this.options.refused(request.socket, response);
          if (error instanceof TooManyReviewsError) replyError(response, 429, error.message, { "Retry-After": "1" });
          else replyError(response, 500, "Internal Server Error");
        },
      )
      .catch((cause: unknown) => response.destroy(new HandlerError("a request failed", { cause })));
  };

  private async pass(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean> {
    const { authenticator, authorizer, clock } = this.options;
    // Do not wait for the rest of a request body after the response was sent.
    if (hasBody(request)) response.shouldKeepAlive = false;
    const certificate = this.options.peers.claimOf(request.socket, clock.now());
    if (certificate.kind === "user") {
      this.options.metrics.certificate(Math.max(0, certificate.expiresAt - clock.now()) / 1000);
    }
    const network = networkOf(request.socket.remoteAddress);
    const who = await authenticate({ certificate, token: bearerToken(request.headers), network }, authenticator);
    if (who.kind === "refused") {
      this.refuse(request, response, { status: 401, text: "Unauthorized", why: who.why, path });
      return false;
    }
    if (isManifestPath(path) && who.user === ANONYMOUS) {
      const why = "the manifest API does not serve anonymous requests";
      this.refuse(request, response, { status: 401, text: "Unauthorized", why, path });
      return false;
    }
    const verb = verbOf(request.method ?? "");
    const subresources = subresourcesOf(path);
    const user = who.user.name;
    const decision = await authorizer.decide({ user: who.user, verb, subresources, network });
    const about = `(user=${user}, verb=${verb}, resource=nodes`;
    if (decision.kind === "failed") {
      const { subresource, error } = decision;
      const text = `Authorization error ${about}, subresource=${subresource})`;
      const why = `the request to the API server failed: ${messageOf(error)}`;
      this.refuse(request, response, { status: 500, text, why, path, user });
      return false;
    }
    if (decision.kind === "forbidden") {
      const text = `Forbidden ${about}, subresource(s)=[${subresources.join(" ")}])\n`;
      const why = `${user} may not ${verb} ${subresources.map((name) => `nodes/${name}`).join(" or ")}`;
      this.refuse(request, response, { status: 403, text, why, path, user });
      return false;
    }
    if (!isManifestPath(path) && Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES) {
      const why = `a body of more than ${MAX_BODY_BYTES} bytes`;
      this.refuse(request, response, { status: 413, text: "Request Entity Too Large", why, path, user });
      return false;
    }
    return true;
  }

  private refuse(
    request: IncomingMessage,
    response: ServerResponse,
    { status, text, ...rest }: { status: number; text: string; why: string; path: string; user?: string },
  ): void {
    const client = request.socket.remoteAddress ?? "";
    this.options.refusals.request({ client, status, method: request.method ?? "", ...rest });
    this.options.refused(request.socket, response);
    replyPlain(response, status, text);
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
