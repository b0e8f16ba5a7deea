// The connection to the Docker Engine: version negotiation, deadlines, cancellation. All requests of the thread go
// through `Engine.call`.
// Invariant: a request ends with its caller's signal or its deadline, also when the Engine hangs; an answer is of a
// bounded size.

import Docker from "dockerode";
import { Scope } from "../../../shared/base/abort/scope.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { abortReason } from "../../../shared/base/errors/thrown.js";
import { Fault, isUnreachable } from "../fault.js";
import { limitAnswers } from "./answer-limits.js";
import { answered } from "./answers.js";

/** Docker 20.10. Older Engines lack one-shot statistics. */
const OLDEST_API: ApiVersion = [1, 41];
/** The newest that this code was written for; a newer Engine serves it, too. */
const NEWEST_API: ApiVersion = [1, 47];

type ApiVersion = readonly [major: number, minor: number];

export interface EngineOptions {
  /** "unix:///path" or "tcp://host:port". */
  endpoint: string;
  /** Deadline of a call without a limit of its own, ms. */
  timeoutMs: number;
  clock: Pick<Clock, "after">;
}

/** What to send beside the path: without `_body` dockerode would send the options themselves. */
export interface RequestOptions {
  abortSignal: AbortSignal;
  _query: Record<string, unknown>;
  _body: object;
}

/** Options of a request with this query and body. */
export function request(
  abortSignal: AbortSignal,
  query: Record<string, unknown> = {},
  body: object = {},
): RequestOptions {
  return { abortSignal, _query: query, _body: body };
}

export class Engine {
  private negotiated: Promise<Docker> | undefined;
  private readonly limits = limitAnswers();

  constructor(private readonly options: EngineOptions) {}

  close(): void {
    this.limits[Symbol.dispose]();
  }

  /**
   * Runs `work` with a client of the negotiated version. `timeoutMs`: Infinity for streams and waits.
   * @throws Fault, or the Engine's error
   */
  async call<T>(
    signal: AbortSignal,
    work: (docker: Docker, signal: AbortSignal) => Promise<T>,
    timeoutMs = this.options.timeoutMs,
  ): Promise<T> {
    signal.throwIfAborted();
    using scope = new Scope(signal);
    if (timeoutMs !== Infinity) {
      scope.limit(this.options.clock, timeoutMs, () => {
        return new Fault("DEADLINE_EXCEEDED", `the Docker Engine did not respond within ${timeoutMs / 1000} s`);
      });
    }
    try {
      const docker = await this.client(scope.signal);
      return await work(docker, scope.signal);
    } catch (error) {
      // The Engine may come back with another version.
      if (isUnreachable(error)) this.negotiated = undefined;
      throw scope.signal.aborted ? abortReason(scope.signal) : error;
    }
  }

  private client(signal: AbortSignal): Promise<Docker> {
    const negotiated = (this.negotiated ??= this.negotiate(signal));
    negotiated.catch(() => {
      if (this.negotiated === negotiated) this.negotiated = undefined;
    });
    return negotiated;
  }

  private async negotiate(abortSignal: AbortSignal): Promise<Docker> {
    const address = addressOf(this.options.endpoint);
    const first: { version: (options: object) => Promise<{ ApiVersion: string; MinAPIVersion: string }> } = new Docker(
      address,
    );
    const { ApiVersion, MinAPIVersion } = answered("version", await first.version({ abortSignal }));
    const version = commonVersion(parse(ApiVersion), parse(MinAPIVersion));
    if (version === undefined) {
      throw new Fault(
        "UNAVAILABLE",
        `the Docker Engine serves API ${MinAPIVersion} to ${ApiVersion}, the kubelet needs ${text(OLDEST_API)} to ${text(NEWEST_API)}: install a supported Docker Engine`,
      );
    }
    return new Docker({ ...address, version: `v${text(version)}` });
  }
}

/** The newest version that both sides have; undefined: there is none. @internal */
export function commonVersion(newest: ApiVersion, oldest: ApiVersion): ApiVersion | undefined {
  const version = isBelow(newest, NEWEST_API) ? newest : NEWEST_API;
  return isBelow(version, OLDEST_API) || isBelow(version, oldest) ? undefined : version;
}

/** @throws Fault for an endpoint that is neither unix:// nor tcp:// @internal */
export function addressOf(endpoint: string): Docker.DockerOptions {
  if (endpoint.startsWith("unix://")) return { socketPath: endpoint.slice("unix://".length) };
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url?.protocol !== "tcp:" || url.port === "") {
    throw new Fault(
      "INVALID_ARGUMENT",
      `--docker-endpoint ${JSON.stringify(endpoint)}: use unix:///path or tcp://host:port`,
    );
  }
  return { host: url.hostname, port: url.port, protocol: "http" };
}

function parse(version: string): ApiVersion {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return [major, minor];
}

function text([major, minor]: ApiVersion): string {
  return `${major}.${minor}`;
}

function isBelow(a: ApiVersion, b: ApiVersion): boolean {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}
