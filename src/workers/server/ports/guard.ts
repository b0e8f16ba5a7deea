// The gate of the authenticated port: every request passes authentication and authorization before any route handles
// it.
// Invariant: a refused request costs little (no route, no runtime, no body read) and has its own line in the log.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { faultPoint } from "../../../shared/base/faults/fault-points.js";
import { authorisedPath, isManifestPath, subresourcesOf, verbOf } from "../auth/attributes.js";
import { authenticate, type AuthenticatorOptions } from "../auth/authenticator.js";
import type { Authorizer } from "../auth/authorizer.js";
import { bearerToken } from "../auth/bearer.js";
import type { ServerAuthMetrics } from "../auth/metrics.js";
import { TooManyReviewsError } from "../auth/review-turns.js";
import { ANONYMOUS } from "../auth/user.js";
import { networkOf } from "../clients/network.js";
import { HandlerError } from "../clients/owned.js";
import type { Call } from "../http/answer.js";
import type { Entered } from "../http/entry.js";
import { isServedByNone } from "../http/paths.js";
import { replyError, replyPlain } from "../http/reply.js";
import type { Router } from "../http/router.js";
import type { HttpMetrics } from "../metrics/http-metrics.js";
import type { PortSide } from "./secure-port.js";

/** More than any route reads but the manifest API, which has its own limit. */
export const MAX_BODY_BYTES = 64 * 1024;

export interface GuardOptions extends PortSide {
  authenticator: AuthenticatorOptions;
  authorizer: Authorizer;
  http: HttpMetrics;
  metrics: ServerAuthMetrics;
  clock: Clock;
  /** Finds the route of a request, which is authorised and then called. */
  router: Pick<Router, "callOf" | "answer">;
}

export class Guard {
  constructor(private readonly options: GuardOptions) {}

  readonly handle: Entered = (request, response, read, upgrade) => {
    const { router, http } = this.options;
    const call = router.callOf(read);
    const end = http.countRequest(call.method, authorisedPath(call));
    let gone = false;
    (upgrade?.socket ?? response).once("close", () => {
      gone = true;
      end();
    });
    if (call.redirect !== undefined || isUnknown(call)) {
      // As upstream, whose ServeMux is before its filters. The response tells only what the request said, or that no
      // node serves its path; nothing is handled.
      request.resume();
      this.options.refused(request.socket, response);
      router.answer(request, response, call, upgrade);
      return;
    }
    this.pass(request, response, call)
      .then(
        (user) => {
          // A route sees only a later "close". It would serve a client that disconnected during the review for ever.
          if (user === undefined || gone) return;
          faultPoint("http-route");
          if (!this.options.authorised(request.socket, user)) {
            this.options.endAfter(request.socket, response);
            replyError(response, 429, `${user} has too many connections`, { "Retry-After": "1" });
            return;
          }
          router.answer(request, response, call, upgrade);
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

  /** A malformed request is answered without authentication; it counts as refused. */
  readonly onMalformed = (request: IncomingMessage, response: ServerResponse, why: string): void => {
    const { method = "", url = "" } = request;
    this.noteRefusal(request, response, { status: 400, why, method, path: url });
  };

  /** The user who may make the call; undefined: the call was refused. */
  private async pass(request: IncomingMessage, response: ServerResponse, call: Call): Promise<string | undefined> {
    const { authenticator, authorizer, clock } = this.options;
    const path = authorisedPath(call);
    // Do not wait for the rest of a request body after the response was sent.
    if (hasBody(request)) response.shouldKeepAlive = false;
    const certificate = this.options.peers.claimOf(request.socket, clock.now());
    if (certificate.kind === "user") {
      this.options.metrics.certificate(Math.max(0, certificate.expiresAt - clock.now()) / 1000);
    }
    const network = networkOf(request.socket.remoteAddress);
    const who = await authenticate({ certificate, token: bearerToken(request.headers), network }, authenticator);
    const refuse = (status: number, text: string, why: string, user?: string): string | undefined => {
      this.noteRefusal(request, response, { status, why, method: call.method, path: call.target.path, user });
      replyPlain(response, status, text);
      return undefined;
    };
    if (who.kind === "refused") return refuse(401, "Unauthorized", who.why);
    if (isManifestPath(path) && who.user === ANONYMOUS)
      return refuse(401, "Unauthorized", "the manifest API does not serve anonymous requests");
    const verb = verbOf(call.method);
    const subresources = subresourcesOf(path);
    const user = who.user.name;
    const decision = await authorizer.decide({ user: who.user, verb, subresources, network });
    const about = `(user=${user}, verb=${verb}, resource=nodes`;
    if (decision.kind === "failed") {
      const { subresource, error } = decision;
      const text = `Authorization error ${about}, subresource=${subresource})`;
      return refuse(500, text, `the request to the API server failed: ${messageOf(error)}`, user);
    }
    if (decision.kind === "forbidden") {
      const text = `Forbidden ${about}, subresource(s)=[${subresources.join(" ")}])\n`;
      const why = `${user} may not ${verb} ${subresources.map((name) => `nodes/${name}`).join(" or ")}`;
      return refuse(403, text, why, user);
    }
    if (!isManifestPath(path) && Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES)
      return refuse(413, "Request Entity Too Large", `a body of more than ${MAX_BODY_BYTES} bytes`, user);
    return user;
  }

  /** Before the response. */
  private noteRefusal(
    request: IncomingMessage,
    response: ServerResponse,
    { user, ...refusal }: { status: number; why: string; method: string; path: string; user?: string | undefined },
  ): void {
    const client = request.socket.remoteAddress ?? "";
    this.options.refusals.request({ client, ...refusal, user });
    this.options.refused(request.socket, response);
  }
}

const isUnknown = ({ route, target }: Call): boolean => route === undefined && isServedByNone(target.segments);

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
