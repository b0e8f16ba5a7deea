// The authenticated port of a server thread, in this thread. TLS on loopback is real; the responses of other threads
// are not.

import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { connect as connectHttp2, type ClientHttp2Session, type Settings } from "node:http2";
import { request, type RequestOptions } from "node:https";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { systemClock, type Clock } from "../../../../src/shared/base/clock/clock.js";
import type { SecureInit } from "../../../../src/shared/contracts/server.js";
import type { ApiClient } from "../../../../src/shared/kubernetes/api/client/port.js";
import type { PodUid } from "../../../../src/shared/kubernetes/identifiers.js";
import type { Logger } from "../../../../src/shared/telemetry/log/logger.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { pingCheck } from "../../../../src/workers/server/health/health.js";
import { HealthSlis } from "../../../../src/workers/server/health/slis.js";
import { ReaderTurns } from "../../../../src/workers/server/logs/pods/reader-turns.js";
import { Scrape } from "../../../../src/workers/server/metrics/scrape.js";
import { PodList } from "../../../../src/workers/server/pods/pod-list.js";
import type { ServedRuntime } from "../../../../src/workers/server/pods/runtime.js";
import type { ConnectionLimits } from "../../../../src/workers/server/ports/https-server.js";
import { SecureServer } from "../../../../src/workers/server/secure-server.js";
import { freePort } from "../../../support/free-port.js";
import { until } from "../../../support/sources-kit.js";
import { TestCA, type Pair } from "../../../support/test-ca.js";

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

type Fields = Omit<Partial<SecureInit>, "tls"> & { tls?: Partial<SecureInit["tls"]> };

export interface SecurePortOptions {
  init?: Fields;
  runtime?: Partial<ServedRuntime>;
  create?: (kind: unknown, object: unknown) => Promise<unknown>;
  clock?: Clock;
  limits?: Partial<ConnectionLimits>;
  logDirectory?: string;
}

export interface Http2Options {
  settings?: Settings;
  localAddress?: string;
  cert?: string;
  key?: string;
}

/** Made once per file: certificates take their time. */
export class Certificates {
  private constructor(
    readonly dir: string,
    readonly ca: TestCA,
    readonly serving: Pair,
  ) {}

  static async create(): Promise<Certificates> {
    const dir = await mkdtemp(join(tmpdir(), "nodelet-server-"));
    const ca = await TestCA.create(dir);
    const names = "IP:127.0.0.1,DNS:localhost";
    return new Certificates(dir, ca, await ca.issue("serving", { subject: "/CN=node", usage: "serverAuth", names }));
  }

  remove(): Promise<void> {
    return rm(this.dir, { recursive: true, force: true });
  }
}

export class SecurePort {
  readonly pods = new PodList(() => Promise.resolve());
  readonly registry = new ThreadRegistry("server");
  readonly lines: { fields: Record<string, unknown>; line: string }[] = [];
  readonly verbosities: number[] = [];
  /** UIDs of mirror pods, by "namespace/name". */
  readonly mirrorUids: Partial<Record<string, PodUid>> = {};
  server!: SecureServer;
  port = 0;

  constructor(readonly certificates: Certificates) {}

  async open({
    init = {},
    runtime = {},
    create,
    clock = systemClock,
    limits = {},
    logDirectory,
  }: SecurePortOptions = {}): Promise<this> {
    const { serving } = this.certificates;
    const keep = (fields: object, line: string): void => void this.lines.push({ fields: { ...fields }, line });
    const log = { info: () => undefined, debug: () => undefined, warn: keep, error: keep } as unknown as Logger;
    const { registry, pods } = this;
    const scrape = new Scrape(() => Promise.resolve([]), [registry], registry, clock, log);
    const slis = new HealthSlis();
    const upcalls = {
      collectMetrics: () => Promise.resolve([]),
      collectProbeMetrics: () => Promise.resolve([]),
      podDisks: () => Promise.resolve([]),
      timeline: () => Promise.resolve(undefined),
      mirrorUid: (namespace: string, name: string) => Promise.resolve(this.mirrorUids[`${namespace}/${name}`]),
      setVerbosity: (verbosity: number) => Promise.resolve(void this.verbosities.push(verbosity)),
      nodeFacts: () => Promise.reject(new Error("not asked")),
      podFacts: () => Promise.resolve(undefined),
      podStarts: () => Promise.resolve({}),
      allPodFacts: () => Promise.resolve({}),
      restartPod: () => Promise.resolve(undefined),
      unusedImages: () => Promise.resolve([]),
      events: () => Promise.resolve([]),
      manifests: () => Promise.reject(new Error("not asked")),
    };
    this.port = await freePort();
    this.server = new SecureServer({
      thread: "secure-server",
      logReaders: new ReaderTurns(systemClock),
      init: {
        port: this.port,
        authentication: { anonymous: true, clientCAFile: "", webhook: false, cacheTTLMs: 120_000 },
        authorization: { mode: "AlwaysAllow", cacheAuthorizedTTLMs: 300_000, cacheUnauthorizedTTLMs: 30_000 },
        reviews: { qps: 50, burst: 100 },
        enableDebuggingHandlers: true,
        enableSystemLogHandler: true,
        enableSystemLogQuery: false,
        enableProfilingHandler: true,
        enableDebugFlagsHandler: true,
        streamingConnectionIdleTimeoutMs: 60_000,
        podLogsDir: join(this.certificates.dir, "pods"),
        checkpointsDir: "/checkpoints",
        gates: {
          podLogsQuerySplitStreams: false,
          containerCheckpoint: true,
          componentFlagz: true,
          componentStatusz: true,
          extendWebSocketsToKubelet: true,
        },
        flags: [{ name: "v", value: "2" }],
        kubernetesVersion: "v1.36.0",
        manifestApi: false,
        ...init,
        tls: {
          certFile: serving.certFile,
          keyFile: serving.keyFile,
          minVersion: "TLSv1.2",
          ciphers: [],
          curves: [],
          ...init.tls,
        },
      },
      address: "127.0.0.1",
      nodeName: "node-1",
      node: {
        pods,
        scrape,
        scrapeProbes: scrape,
        checks: slis.observed([pingCheck]),
        slis,
        timeline: { upcalls, clock },
        stats: { routes: () => [] },
      },
      configz: () => ({ plain: '{"kubeletconfig":{}}', withOrigins: '{"kubeletconfig":{},"origins":{}}' }),
      upcalls,
      api: () =>
        create === undefined
          ? Promise.reject(new Error("no API server"))
          : Promise.resolve({ create: create as ApiClient["create"] }),
      runtime: { get: () => Promise.resolve(runtime as ServedRuntime) },
      limits,
      threads: () => [],
      ...(logDirectory === undefined ? {} : { logDirectory }),
      registry,
      clock,
      log,
    });
    await this.server.start();
    await this.server.listening();
    return this;
  }

  async ask(
    path: string,
    options: RequestOptions & { body?: string } = {},
    encoding: BufferEncoding = "utf8",
  ): Promise<Answer> {
    const { body: sentBody, ...rest } = options;
    const ca = this.certificates.ca.pair.cert;
    const sent = request({ host: "127.0.0.1", port: this.port, path, ca, agent: false, ...rest });
    // Before the answer `once` hears it, after it the body's end tells. A connection may be reset while the client
    // still writes.
    sent.on("error", () => undefined);
    sent.end(sentBody);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.setEncoding(encoding);
    let body = "";
    for await (const chunk of response) body += chunk as string;
    return { status: response.statusCode ?? 0, headers: response.headers, body };
  }

  /** An HTTP/2 connection. Its errors are ignored; the test ends it. */
  http2({ settings = {}, localAddress, ...rest }: Http2Options = {}): ClientHttp2Session {
    const tcp = connectTcp({ host: "127.0.0.1", port: this.port, ...(localAddress && { localAddress }) });
    const socket = connectTls({ socket: tcp, rejectUnauthorized: false, ALPNProtocols: ["h2"], ...rest });
    for (const end of [tcp, socket]) end.on("error", () => undefined);
    const session = connectHttp2(`https://127.0.0.1:${this.port}`, { createConnection: () => socket, settings });
    session.once("close", () => tcp.destroy());
    return session.on("error", () => undefined);
  }

  /** Requests that the server got and has not responded to. */
  async inflight(): Promise<number> {
    const { families } = await this.registry.exportSnapshot();
    const family = families.find(({ name }) => name === "kubelet_http_inflight_requests");
    return (family?.samples ?? []).reduce((sum, { value }) => sum + value, 0);
  }

  /** Resolves when each response has ended, for the server too: its client may see the end a moment earlier. */
  async answered(): Promise<void> {
    await until(async () => (await this.inflight()) === 0);
  }

  close(): Promise<void> {
    return this.server.close();
  }
}
