// One call from start to end: its turn, its deadline, its retries, and the text of its failure.
// Retries are those of client-go: any response of 429 or 5xx with Retry-After, and reads whose connection broke.

import { Scope } from "../../../../base/abort/scope.js";
import type { Clock } from "../../../../base/clock/clock.js";
import { errorCode } from "../../../../base/errors/error-code.js";
import { abortReason } from "../../../../base/errors/thrown.js";
import { withoutTrailing } from "../../../../base/text/without-trailing.js";
import type { CallLabels, RestClientMetrics } from "../../../../telemetry/metrics/rest-client.js";
import type { ClientConfig } from "../config.js";
import { connectionError } from "../connection/connection-error.js";
import type { Wire, WireRequest, WireResponse } from "../connection/wire.js";
import { CredentialError } from "../credentials/errors.js";
import type { ClientLog } from "../credentials/identity.js";
import { type ApiConnectionError, ApiError, isTooLargeVersion } from "../errors.js";
import { refusalOf } from "./body.js";
import type { RateLimit } from "./rate-limit.js";
import { tracedRequest } from "./traced-request.js";

const RETRIES = 10;
/** client-go's wait before a read whose connection broke is sent again. */
const BROKEN_WAIT_MS = 1000;
const BROKEN = new Set(["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE", "ERR_HTTP2_STREAM_ERROR"]);
const TIMEOUT = 504;
/** In metrics, in place of a status. */
const NO_ANSWER = "<error>";
/** A longer wait than this is logged. */
const LONG_WAIT_MS = 1000;

export interface Call {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the server's URL, with the query. */
  path: string;
  headers?: Record<string, string>;
  body?: Buffer;
  timeoutMs: number;
}

/** Handles a response of 2xx. */
export type Read<T> = (response: WireResponse) => T | Promise<T>;

export interface CallerOptions {
  config: Pick<ClientConfig, "server" | "origin">;
  wire: Wire;
  limit: RateLimit;
  clock: Clock;
  log: ClientLog;
  userAgent: string;
  metrics: RestClientMetrics | undefined;
}

export class Caller {
  private readonly basePath: string;
  private readonly host: string;

  constructor(private readonly options: CallerOptions) {
    const { pathname, host } = new URL(options.config.server);
    this.basePath = withoutTrailing(pathname, "/");
    this.host = host;
  }

  /** Rejects with ApiError, ApiConnectionError, CredentialError, or the signal's reason. */
  async run<T>(call: Call, signal: AbortSignal | undefined, read: Read<T>): Promise<T> {
    const { clock, metrics } = this.options;
    const scope = new Scope(signal);
    const since = clock.monotonic();
    let received: number | undefined;
    try {
      return await this.within(call, scope, async (response) => {
        const value = await read(response);
        received = response.received;
        return value;
      });
    } catch (error) {
      throw this.explained(call, scope, error);
    } finally {
      scope.dispose();
      metrics?.done(this.labels(call), clock.monotonic() - since, call.body?.length ?? 0, received);
    }
  }

  /** As `run`, in the caller's scope: the response may outlive the call. Rejects with anything. */
  async within<T>(call: Call, scope: Scope, read: Read<T>): Promise<T> {
    const late = (): Error => this.failure(call, `no response within ${call.timeoutMs} ms`);
    scope.limit(this.options.clock, call.timeoutMs, late);
    const deadline = this.options.clock.monotonic() + call.timeoutMs;
    await this.turn(call, scope.signal);
    return await this.attempts(call, scope, read, deadline);
  }

  /** Any failure of the call, as one of this client's errors. */
  explained(call: Call, scope: Scope, error: unknown): Error {
    if (scope.signal.aborted) return abortReason(scope.signal);
    if (error instanceof ApiError || error instanceof CredentialError || error instanceof TypeError) return error;
    return this.failure(call, error);
  }

  failure({ method, path }: Call, cause: unknown): ApiConnectionError {
    const { server, origin } = this.options.config;
    return connectionError(`${method} ${path.split("?", 1)[0] ?? path}`, server, origin, cause);
  }

  private async turn(call: Call, signal: AbortSignal): Promise<void> {
    const waitedMs = await this.options.limit.acquire(signal);
    this.options.metrics?.throttled(this.labels(call), waitedMs);
    if (waitedMs < LONG_WAIT_MS) return;
    const fields = { duration: `${Math.round(waitedMs)}ms`, verb: call.method, URL: this.url(call) };
    this.options.log.info(fields, "Waited before sending request: client-side throttling");
  }

  private async attempts<T>(call: Call, scope: Scope, read: Read<T>, deadline: number): Promise<T> {
    const { clock } = this.options;
    for (let left = RETRIES; ; left--) {
      // A wait that ends too late would only hide the response.
      const mayWait = (ms: number): boolean => left > 0 && clock.monotonic() + ms < deadline;
      const outcome = await this.attempt(call, scope, read, mayWait);
      if ("value" in outcome) return outcome.value;
      this.options.metrics?.retried(this.labels(call), outcome.code);
      await clock.sleep(outcome.retryAfterMs, scope.signal);
    }
  }

  private async attempt<T>(
    call: Call,
    scope: Scope,
    read: Read<T>,
    mayWait: (ms: number) => boolean,
  ): Promise<{ value: T } | { retryAfterMs: number; code: string }> {
    try {
      const response = await this.send(call, scope.signal);
      if (response.status >= 200 && response.status < 300) return { value: await read(response) };
      const retryAfterMs = retryAfter(response);
      if (retryAfterMs === undefined || !mayWait(retryAfterMs)) throw await refusalOf(response);
      if (response.status === TIMEOUT) {
        // The server has waited for that version already.
        const refusal = await refusalOf(response);
        if (isTooLargeVersion(refusal)) throw refusal;
      }
      response.body.on("error", () => undefined).destroy();
      return { retryAfterMs, code: String(response.status) };
    } catch (error) {
      const isBroken = call.method === "GET" && BROKEN.has(errorCode(error) ?? "");
      if (!isBroken || scope.signal.aborted || !mayWait(BROKEN_WAIT_MS)) throw error;
      return { retryAfterMs: BROKEN_WAIT_MS, code: NO_ANSWER };
    }
  }

  private async send(call: Call, signal: AbortSignal): Promise<WireResponse> {
    let code = NO_ANSWER;
    try {
      const response = await tracedRequest(call.method, this.url(call), (headers) =>
        this.options.wire.send(this.request(call, headers), signal),
      );
      code = String(response.status);
      return response;
    } finally {
      this.options.metrics?.answered(this.labels(call), code);
    }
  }

  private labels({ method }: Call): CallLabels {
    return { verb: method, host: this.host };
  }

  private request(call: Call, traceHeaders: Record<string, string>): WireRequest {
    const { method, path, headers, body } = call;
    const own = { accept: "application/json", "user-agent": this.options.userAgent };
    return { method, path: this.basePath + path, headers: { ...own, ...headers, ...traceHeaders }, body };
  }

  private url({ path }: Call): string {
    return `${new URL(this.options.config.server).origin}${this.basePath}${path}`;
  }
}

/** Milliseconds; undefined if the response does not request a retry. */
function retryAfter({ status, headers }: WireResponse): number | undefined {
  if (status !== 429 && (status < 500 || status > 599)) return undefined;
  const seconds = headers["retry-after"];
  return typeof seconds === "string" && /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}
