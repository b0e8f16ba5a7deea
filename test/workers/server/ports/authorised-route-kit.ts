// The authenticated port with every route of a kubelet, over real TLS. Handlers record that they are called, and the
// API server records what it is asked.

import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { connect as connectTls } from "node:tls";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import type { SecureInit } from "../../../../src/shared/contracts/server.js";
import type { ApiClient } from "../../../../src/shared/kubernetes/api/client/port.js";
import type { Logger } from "../../../../src/shared/telemetry/log/logger.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { pingCheck } from "../../../../src/workers/server/health/health.js";
import { HealthSlis } from "../../../../src/workers/server/health/slis.js";
import type { Call, Route } from "../../../../src/workers/server/http/answer.js";
import { pageRoutes } from "../../../../src/workers/server/page/page-routes.js";
import { CONNECTION_LIMITS, type ConnectionLimits } from "../../../../src/workers/server/ports/https-server.js";
import { SecurePort } from "../../../../src/workers/server/ports/secure-port.js";
import type { NodeRouteDeps } from "../../../../src/workers/server/routes.js";
import { guardOf } from "../../../../src/workers/server/secure-server.js";
import { Stats } from "../../../../src/workers/server/stats/index.js";
import { TrustedRoutes, type TrustedDeps } from "../../../../src/workers/server/trusted-routes.js";
import { freePort } from "../../../support/free-port.js";
import type { Certificates } from "./secure-port-kit.js";

export interface Handled {
  readonly route: Route;
  readonly method: string;
  readonly call: Pick<Call, "target" | "params">;
}

export interface Asked {
  readonly verb: string;
  readonly subresource: string;
  readonly allowed: boolean;
}

/** Dependencies of routes that are made, and whose handlers are replaced. */
const part = <T extends object>(needed: Partial<T>): T => needed as T;

const INIT: Omit<SecureInit, "port" | "tls" | "authentication"> = {
  authorization: { mode: "Webhook", cacheAuthorizedTTLMs: 0, cacheUnauthorizedTTLMs: 0 },
  reviews: { qps: -1, burst: 0 },
  enableDebuggingHandlers: true,
  enableSystemLogHandler: true,
  enableSystemLogQuery: true,
  enableProfilingHandler: true,
  enableDebugFlagsHandler: true,
  streamingConnectionIdleTimeoutMs: 60_000,
  podLogsDir: "",
  checkpointsDir: "",
  gates: {
    podLogsQuerySplitStreams: true,
    containerCheckpoint: true,
    componentFlagz: true,
    componentStatusz: true,
    extendWebSocketsToKubelet: true,
  },
  flags: [],
  kubernetesVersion: "v1.36.0",
  manifestApi: true,
};

/** Many connections of one client; one whose request has no end is soon closed. */
const LIMITS = {
  ...{ refusals: Infinity, handshakesPerSecond: 1e6, handshakeBurst: 1e6 },
  ...{ headersMs: 1000, idleMs: 1000, checkMs: 250 },
};

function everyRoute(): Route[] {
  const slis = new HealthSlis();
  const node = part<NodeRouteDeps>({ checks: slis.observed([pingCheck]), slis, stats: new Stats(part({})) });
  const deps = part<TrustedDeps>({ node, init: INIT, limits: CONNECTION_LIMITS, clock: systemClock });
  const trusted = new TrustedRoutes({ ...deps, manifests: () => Promise.reject(new Error("no handler is called")) });
  trusted.close();
  return [...trusted.routes, ...pageRoutes(part({}))];
}

/**
 * A request's token is its number and the subresources that its user may use: "7.stats.proxy". Without one it is
 * anonymous.
 */
export class RecordedPort {
  readonly paths: readonly string[];
  /** By the number of the request; "" for those without a token. */
  readonly handled = new Map<string, Handled>();
  readonly asked = new Map<string, Asked[]>();
  private readonly secure: SecurePort;
  private session: ClientHttp2Session | undefined;

  private constructor(
    private readonly certificates: Certificates,
    readonly port: number,
    mode: SecureInit["authorization"]["mode"],
    limits: Partial<ConnectionLimits>,
  ) {
    const routes = everyRoute();
    this.paths = routes.map(({ path }) => path);
    const { certFile, keyFile } = certificates.serving;
    const quiet = (): void => undefined;
    const init = {
      ...INIT,
      port,
      authorization: { ...INIT.authorization, mode },
      tls: { certFile, keyFile, minVersion: "TLSv1.2" as const, ciphers: [], curves: [] },
      authentication: { anonymous: true, clientCAFile: "", webhook: true, cacheTTLMs: 0 },
    };
    const common = {
      ...{ clock: systemClock, log: part<Logger>({ info: quiet, debug: quiet, warn: quiet, error: quiet }) },
      ...{ init, nodeName: "node-1", registry: new ThreadRegistry("server") },
      api: () => Promise.resolve({ create: this.review as ApiClient["create"] }),
    };
    const recorded = routes.map((route) => this.recorded(route));
    this.secure = new SecurePort({
      ...common,
      ...{ name: "authenticated", changedBy: "the test", address: "127.0.0.1" },
      gate: (side) => guardOf(common, recorded, side),
      limits: { ...CONNECTION_LIMITS, ...LIMITS, ...limits },
    });
  }

  static async open(
    certificates: Certificates,
    mode: SecureInit["authorization"]["mode"],
    limits: Partial<ConnectionLimits> = {},
  ): Promise<RecordedPort> {
    const port = new RecordedPort(certificates, await freePort(), mode, limits);
    await port.secure.start();
    await port.secure.listening();
    return port;
  }

  async close(): Promise<void> {
    this.session?.destroy();
    await this.secure.close();
  }

  /**
   * Sends these bytes on a connection of their own.
   * @returns all that the server sends until it closes the connection, as Latin-1
   */
  raw(head: string): Promise<string> {
    const socket = connectTls({ host: "127.0.0.1", port: this.port, ca: this.certificates.ca.pair.cert });
    socket.write(Buffer.from(head, "latin1"));
    return new Promise((resolve) => {
      let text = "";
      socket.on("data", (part: Buffer) => (text += part.toString("latin1")));
      // What it has not read may reset the connection after the response.
      socket.on("error", quietly).once("close", () => resolve(text));
    });
  }

  /** One request of HTTP/2. @returns its status; undefined: no response, as Node's client or the protocol refuses it */
  http2(headers: Record<string, string>): Promise<number | undefined> {
    if (this.session === undefined || this.session.closed || this.session.destroyed) {
      this.session = connectHttp2(`https://127.0.0.1:${this.port}`, { ca: this.certificates.ca.pair.cert });
      this.session.on("error", quietly);
    }
    const { session } = this;
    return new Promise((resolve) => {
      let status: number | undefined;
      try {
        const stream = session.request(headers, { endStream: true });
        stream.on("response", (answer) => (status = answer[":status"]));
        stream.on("error", quietly).once("close", () => resolve(status));
        stream.resume();
      } catch {
        resolve(undefined);
      }
    });
  }

  private recorded(route: Route): Route {
    return {
      ...route,
      answer: (request, response, call) => {
        request.resume();
        const [number = ""] = (request.headers.authorization ?? "").replace("Bearer ", "").split(".");
        this.handled.set(number, { route, method: request.method ?? "", call });
        response.writeHead(200, { "Content-Length": "0" }).end();
      },
    };
  }

  private readonly review = (_kind: unknown, object: unknown): Promise<unknown> => {
    const { spec } = object as {
      spec: { token: string } | { user: string; resourceAttributes: { verb: string; subresource: string } };
    };
    if ("token" in spec) return Promise.resolve({ status: { authenticated: true, user: { username: spec.token } } });
    const [number = "", ...rights] = spec.user.split(".");
    const { verb, subresource } = spec.resourceAttributes;
    const allowed = rights.includes(subresource);
    this.asked.set(number, [...(this.asked.get(number) ?? []), { verb, subresource, allowed }]);
    return Promise.resolve({ status: { allowed } });
  };
}

function quietly(): void {
  // The end of the connection is what counts.
}
