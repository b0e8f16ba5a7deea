// All ports and sockets of a server thread, in this thread, and raw bytes to each of them.

import { mkdtemp, rm } from "node:fs/promises";
import { connect as connectTcp, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { NO_MANIFESTS } from "../../../src/shared/contracts/manifest-facts.js";
import type { HandlerInit, ServerInit } from "../../../src/shared/contracts/server.js";
import { ServerLogic } from "../../../src/workers/server/logic.js";
import { freePort } from "../../support/free-port.js";
import { sendPods } from "../../support/pod-list.js";
import { silentLog } from "../../support/silent.js";
import { RUNTIME_INIT, STATS_INIT } from "../../support/stats-init.js";
import { ApiPort } from "../apiserver/api-port-kit.js";
import { Certificates } from "./ports/secure-port-kit.js";

export const HANDLERS: HandlerInit = {
  enableDebuggingHandlers: true,
  enableSystemLogHandler: false,
  enableSystemLogQuery: false,
  enableProfilingHandler: false,
  enableDebugFlagsHandler: false,
  streamingConnectionIdleTimeoutMs: 60_000,
  podLogsDir: "/nowhere",
  checkpointsDir: "/nowhere",
  gates: {
    podLogsQuerySplitStreams: false,
    containerCheckpoint: false,
    componentFlagz: false,
    componentStatusz: false,
    extendWebSocketsToKubelet: true,
  },
  flags: [],
  kubernetesVersion: "v1.36.0",
  manifestApi: true,
};

export const PORTS = ["authenticated", "read-only", "healthz", "status page", "admin socket", "API"] as const;
export type PortName = (typeof PORTS)[number];

export class EveryPort {
  private constructor(
    private readonly logic: ServerLogic,
    private readonly certificates: Certificates,
    private readonly dir: string,
    private readonly init: ServerInit,
    private readonly api: ApiPort,
  ) {}

  /** @param init changes the init data of the thread */
  static async open(init: Partial<ServerInit> = {}): Promise<EveryPort> {
    const certificates = await Certificates.create();
    const dir = await mkdtemp(join(tmpdir(), "nodelet-ports-"));
    const whole = await initOf(certificates, dir, init);
    const refuse = () => Promise.reject(new Error("not asked"));
    const logic = new ServerLogic({
      thread: "server",
      init: whole,
      upcalls: {
        collectMetrics: () => Promise.resolve([]),
        collectProbeMetrics: () => Promise.resolve([]),
        podDisks: () => Promise.resolve([]),
        timeline: () => Promise.resolve(undefined),
        mirrorUid: () => Promise.resolve(undefined),
        setVerbosity: () => Promise.resolve(),
        ...{
          nodeFacts: refuse,
          podFacts: refuse,
          podStarts: refuse,
          allPodFacts: refuse,
          restartPod: refuse,
          unusedImages: refuse,
          events: refuse,
          manifests: refuse,
        },
      },
      health: { syncLoopAgeMs: () => 0, logFlushAgeMs: () => 0 },
      sendPods: () => Promise.resolve(),
      threads: () => [],
      api: refuse,
      manifests: refuse,
      clock: systemClock,
      log: silentLog,
    });
    logic.start();
    sendPods(logic, []);
    const opened = new EveryPort(logic, certificates, dir, whole, await ApiPort.open());
    await logic.listening();
    await opened.ask("admin socket", "GET /healthz HTTP/1.0\r\n\r\n");
    return opened;
  }

  async close(): Promise<void> {
    await this.logic.stop();
    await this.api[Symbol.asyncDispose]();
    await this.certificates.remove();
    await rm(this.dir, { recursive: true, force: true });
  }

  /** @returns what the port sends until it closes the connection; a request that is answered must ask for that */
  async ask(port: PortName, bytes: string, address?: string): Promise<string> {
    const socket = this.connection(port, address);
    socket.write(Buffer.from(bytes, "latin1"));
    let text = "";
    // A response to a request whose rest was not read may end with a reset.
    socket.on("data", (part: Buffer) => (text += part.toString("latin1"))).on("error", () => undefined);
    await new Promise((resolve) => socket.once("close", resolve));
    return text;
  }

  private connection(name: PortName, address = "127.0.0.1"): Socket {
    const { init } = this;
    const to = (port = 0) => ({ host: address, port });
    switch (name) {
      case "authenticated":
        return connectTls({ ...to(init.secure?.port), ca: this.certificates.ca.pair.cert });
      case "API":
        return this.api.connect();
      case "read-only":
        return connectTcp(to(init.readOnlyPort));
      case "healthz":
        return connectTcp(to(init.healthzPort));
      case "status page":
        return connectTcp(to(init.page?.loopbackPort));
      case "admin socket":
        return connectTcp({ path: init.admin?.socket ?? "" });
    }
  }
}

async function initOf(certificates: Certificates, dir: string, init: Partial<ServerInit>): Promise<ServerInit> {
  const { certFile, keyFile } = certificates.serving;
  const common = { handlers: HANDLERS, certificates: [] };
  return {
    address: "127.0.0.1",
    readOnlyPort: await freePort(),
    healthzBindAddress: "127.0.0.1",
    healthzPort: await freePort(),
    syncLoopMaxAgeMs: 300_000,
    devicePluginProblem: "",
    manifests: NO_MANIFESTS,
    nodeName: "node-1",
    configz: { plain: "{}", withOrigins: "{}" },
    runtime: RUNTIME_INIT,
    stats: STATS_INIT,
    secure: {
      ...HANDLERS,
      port: await freePort(),
      authentication: { anonymous: true, clientCAFile: "", webhook: false, cacheTTLMs: 0 },
      authorization: { mode: "AlwaysAllow", cacheAuthorizedTTLMs: 0, cacheUnauthorizedTTLMs: 0 },
      reviews: { qps: 50, burst: 100 },
      tls: { certFile, keyFile, minVersion: "TLSv1.2", ciphers: [], curves: [] },
    },
    admin: { ...common, socket: join(dir, "admin", "socket"), group: "", rootDir: dir },
    page: { ...common, secure: false, loopbackPort: await freePort() },
    ...init,
  };
}
