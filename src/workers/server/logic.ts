// Serves HTTP about this node from the thread's own copy of the state, even when main is stuck. The init data says what
// this thread serves: the authenticated port (10250), or the read-only port (10255), the healthz port (10248) and the
// admin socket. Listeners that cannot bind keep trying.

import { hostname } from "node:os";
import type { Clock } from "../../shared/base/clock/clock.js";
import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { ThreadSnapshot } from "../../shared/base/queue/board.js";
import { Deferred } from "../../shared/base/turns/deferred.js";
import type { NodeManifests } from "../../shared/contracts/manifest-facts.js";
import type { ManifestCall, ManifestReply } from "../../shared/contracts/manifests.js";
import type {
  AdminInit,
  ConfigzBodies,
  Listening,
  PodsDelta,
  ServerControl,
  ServerInit,
  ServerThreadName,
  ServerUpcalls,
} from "../../shared/contracts/server.js";
import type { ApiClient } from "../../shared/kubernetes/api/client/port.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import { deferredCriClient } from "../../shared/kubernetes/cri/deferred-client.js";
import type { FileSystemFacts } from "../../shared/node/volume-calls/operations.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { MetricSnapshot } from "../../shared/telemetry/metrics/snapshot.js";
import { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import { watchThreadUsage } from "../../shared/telemetry/metrics/thread-usage.js";
import type { Remote } from "../../shared/thread/remote-calls.js";
import type { AdminRoutes, AdminServer } from "./admin/admin-server.js";
import type { StatusDeps } from "./admin/status.js";
import { nodeChecks, pingCheck, type HealthInputs } from "./health/health.js";
import { HealthSlis } from "./health/slis.js";
import { ReaderTurns } from "./logs/pods/reader-turns.js";
import { httpMetrics } from "./metrics/http-metrics.js";
import { processStartTime } from "./metrics/process-metrics.js";
import { processRegistry } from "./metrics/process-registry.js";
import { Scrape } from "./metrics/scrape.js";
import type { OpenPage } from "./page/open-page.js";
import type { ManifestAnswers } from "./pods/manifests/answer.js";
import { PodList } from "./pods/pod-list.js";
import { Listener, plainServer } from "./ports/listener.js";
import { healthzHandler, readOnlyHandler, type NodeRouteDeps } from "./routes.js";
import type { SecureServer } from "./secure-server.js";
import { Stats } from "./stats/index.js";
import type { NodeDisks } from "./stats/node-disks.js";

export interface ServerDeps {
  thread: ServerThreadName;
  init: ServerInit;
  upcalls: Remote<Omit<ServerUpcalls, "sendPods">>;
  health: Omit<HealthInputs, "devicePluginProblem" | "threads">;
  /** The last snapshot of each thread. */
  threads: () => readonly ThreadSnapshot[];
  /** A client of the API server, for reviews; called when the first is needed. */
  api: () => Promise<ApiClient>;
  /** The call of that name to main; rejects soon when main is stuck. */
  sendPods: () => Promise<void>;
  /** A call of the manifest API to main: may take minutes. */
  manifests: (call: ManifestCall) => Promise<ManifestReply>;
  clock: Clock;
  log: Logger;
}

export class ServerLogic implements ServerControl {
  /** What this thread counts: on the pages of the other threads, too. */
  private readonly registry: ThreadRegistry;
  private readonly pods: PodList;
  private readonly stats: Stats;
  private readonly runtime: Deferred<CriClient>;
  /** Client of the image service; shares the runtime's connection unless images have a separate endpoint. */
  private readonly images: Deferred<CriClient>;
  private readonly readOnly: Listener | undefined;
  private readonly healthz: Listener | undefined;
  private readonly node: NodeRouteDeps;
  /** From the first snapshot of pods on. */
  private secure: Promise<SecureServer | undefined> | undefined;
  /** Opened with the first snapshot of pods. */
  private admin: Promise<AdminServer | undefined> | undefined;
  /** Opened with the first snapshot of pods. */
  private page: Promise<OpenPage | undefined> | undefined;
  private readonly manifests: Deferred<ManifestAnswers>;
  private readonly disks: Deferred<NodeDisks>;
  private readonly logReaders: ReaderTurns;
  private configz: ConfigzBodies;
  private readonly slis = new HealthSlis();
  private devicePluginProblem: string;
  private listedManifests: NodeManifests;

  constructor(private readonly deps: ServerDeps) {
    this.pods = new PodList(() => deps.sendPods());
    this.configz = deps.init.configz;
    this.devicePluginProblem = deps.init.devicePluginProblem;
    this.listedManifests = deps.init.manifests;
    const { thread, init, upcalls, health, clock, log } = deps;
    this.logReaders = new ReaderTurns(clock);
    this.registry = new ThreadRegistry(thread);
    watchThreadUsage(this.registry);
    const processPage = processRegistry(deps);
    const [runtime, images] = this.runtimes();
    this.runtime = runtime;
    this.images = images;
    this.manifests = new Deferred({
      name: "answers about manifests",
      when: "first use",
      load: async () => {
        const { ManifestAnswers } = await import("./pods/manifests/answer.js");
        return new ManifestAnswers({ pods: this.pods, call: deps.manifests, clock });
      },
      end: (answers) => answers.close(),
    });
    this.disks = new Deferred({
      name: "the file systems of the node",
      when: "first use",
      load: async () => (await import("./stats/node-disks.js")).NodeDisks.open(clock, log),
      end: (disks) => disks.close(),
    });
    this.stats = new Stats({
      init: init.stats,
      nodeName: init.nodeName,
      pods: () => this.pods.all(),
      runtime: () => runtime.get(),
      images: () => images.get(),
      collectMetrics: () => upcalls.collectMetrics(),
      podDisks: (uids, maxAgeMs) => upcalls.podDisks(uids, maxAgeMs),
      disk: (path) => this.disk(path),
      clock,
      log,
    });
    this.node = {
      pods: this.pods,
      scrape: new Scrape(() => upcalls.collectMetrics(), [processPage, this.registry], this.registry, clock, log, true),
      scrapeProbes: this.probeScrape(),
      checks: this.slis.observed(
        nodeChecks(
          { ...health, devicePluginProblem: () => this.devicePluginProblem, threads: deps.threads },
          init.syncLoopMaxAgeMs,
        ),
      ),
      slis: this.slis,
      timeline: { upcalls, clock },
      stats: this.stats,
    };
    this.readOnly = this.readOnlyListener();
    this.healthz = this.healthzListener();
  }

  start(): void {
    this.readOnly?.start();
    this.healthz?.start();
  }

  async stop(): Promise<void> {
    await this.manifests.stop();
    await Promise.all([
      this.secure?.then((server) => server?.close()),
      this.admin?.then((server) => server?.close()),
      this.page?.then((page) => page?.close()),
      this.readOnly?.close(),
      this.healthz?.close(),
    ]);
    await this.stats.close();
    await this.disks.stop();
    await Promise.all([this.runtime.stop(), this.images.stop()]);
  }

  startPods(): void {
    this.pods.clear();
  }

  openPorts(): void {
    this.page ??= this.openPage();
    this.secure ??= this.openSecure();
    this.admin ??= this.openAdmin();
  }

  applyPods(delta: PodsDelta): void {
    this.pods.apply(delta);
  }

  setConfigz(bodies: ConfigzBodies): void {
    this.configz = bodies;
  }

  setDevicePluginProblem(problem: string): void {
    this.devicePluginProblem = problem;
  }

  setManifests(list: NodeManifests): void {
    this.listedManifests = list;
  }

  async listening(): Promise<Listening> {
    const [secure, page, readOnly, healthz] = await Promise.all([
      this.secure?.then((server) => server?.listening()),
      this.page?.then((page) => page?.listening()),
      this.readOnly?.listening(),
      this.healthz?.listening(),
    ]);
    return omitUndefined({
      secure,
      page,
      readOnly,
      healthz,
    });
  }

  metrics(): Promise<MetricSnapshot> {
    return this.registry.exportSnapshot();
  }

  private runtimes(): [runtime: Deferred<CriClient>, images: Deferred<CriClient>] {
    const { endpoint, imageEndpoint, requestTimeoutMs, listStreaming, criChannel } = this.deps.init.runtime;
    const to = (address: string): Deferred<CriClient> =>
      deferredCriClient({
        endpoint: address,
        runtimeRequestTimeoutMs: requestTimeoutMs,
        listStreaming,
        channel: criChannel,
        clock: this.deps.clock,
        registry: this.registry,
        log: this.deps.log,
      });
    const runtime = to(endpoint);
    return [runtime, imageEndpoint === endpoint ? runtime : to(imageEndpoint)];
  }

  private readOnlyListener(): Listener | undefined {
    const { init, clock, log } = this.deps;
    if (init.readOnlyPort === 0) return undefined;
    const handler = readOnlyHandler({
      ...this.node,
      http: httpMetrics(this.registry, clock, "readonly"),
      hostNames: this.hostNames(this.deps.init.address),
      servesPods: init.readOnlyPods ?? true,
      log,
    });
    return new Listener({
      name: "read-only",
      address: init.address,
      port: init.readOnlyPort,
      changedBy: "--read-only-port and --address (config fields readOnlyPort and address; port 0 turns it off)",
      create: () => plainServer(handler, clock, log),
      clock,
      log,
    });
  }

  /** Never rejects: without it the other ports go on. */
  private async openSecure(): Promise<SecureServer | undefined> {
    const { init, upcalls, threads, api, clock, log } = this.deps;
    if (init.secure === undefined) return undefined;
    try {
      const [{ SecureServer }, page] = await Promise.all([import("./secure-server.js"), this.page]);
      const server = new SecureServer({
        thread: this.deps.thread,
        init: init.secure,
        address: init.address,
        nodeName: init.nodeName,
        node: this.node,
        configz: () => this.configz,
        upcalls,
        threads,
        api,
        manifests: init.secure.manifestApi ? () => this.manifests.get() : undefined,
        runtime: this.runtime,
        logReaders: this.logReaders,
        pageRoutes: init.page?.secure === true && page !== undefined ? page.routes : undefined,
        registry: this.registry,
        clock,
        log,
      });
      await server.start();
      return server;
    } catch (error) {
      log.error({ err: error }, "the authenticated port could not be opened");
      return undefined;
    }
  }

  /** Never rejects: without it the ports go on. */
  private async openAdmin(): Promise<AdminServer | undefined> {
    const { init, clock, log } = this.deps;
    const { admin } = init;
    if (admin === undefined) return undefined;
    try {
      const { AdminServer } = await import("./admin/admin-server.js");
      const server = new AdminServer({ init: admin, routes: () => this.adminRoutes(admin), clock, log });
      await server.start();
      return server;
    } catch (error) {
      log.error({ err: error }, "the admin socket could not be opened");
      return undefined;
    }
  }

  private async adminRoutes(admin: AdminInit): Promise<AdminRoutes> {
    const { upcalls, threads, clock, log } = this.deps;
    const { adminRoutes } = await import("./admin/admin-routes.js");
    return adminRoutes({
      thread: this.deps.thread,
      init: admin.handlers,
      node: this.node,
      configz: () => this.configz,
      upcalls,
      threads,
      clock,
      log,
      manifests: admin.handlers.manifestApi ? () => this.manifests.get() : undefined,
      runtime: this.runtime,
      logReaders: this.logReaders,
      images: () => this.images.get(),
      status: this.statusDeps(admin),
    });
  }

  private statusDeps({ handlers, certificates, api }: Pick<AdminInit, "handlers" | "certificates" | "api">) {
    const { init } = this.deps;
    return {
      node: init.nodeName,
      kubernetesVersion: handlers.kubernetesVersion,
      rootDir: init.stats.rootDir,
      runtimeEndpoint: init.runtime.endpoint,
      docker: init.runtime.docker,
      certificates,
      api: api === undefined ? undefined : this.deps.api,
      devicePluginProblem: () => this.devicePluginProblem,
      manifests: () => this.listedManifests,
      disk: (path) => this.disk(path),
    } satisfies Omit<StatusDeps, "facts" | "threads" | "clock">;
  }

  private async disk(path: string): Promise<FileSystemFacts> {
    return (await this.disks.get()).facts(path);
  }

  /** Never rejects: without it the ports go on. */
  private async openPage(): Promise<OpenPage | undefined> {
    const { init, upcalls, threads, clock, log } = this.deps;
    if (init.page === undefined) return undefined;
    try {
      const { openPage } = await import("./page/open-page.js");
      return openPage(init.page, {
        handlers: init.page.handlers,
        pods: this.pods,
        configz: () => this.configz,
        upcalls,
        threads,
        clock,
        log,
        status: this.statusDeps(init.page),
        images: () => this.images.get(),
        logReaders: this.logReaders,
        usage: () => this.stats.usage(),
      });
    } catch (error) {
      log.error({ err: error }, "the status page could not be opened");
      return undefined;
    }
  }

  private probeScrape(): Scrape {
    const { upcalls, clock, log } = this.deps;
    const page = new ThreadRegistry(this.deps.thread);
    processStartTime(page);
    return new Scrape(() => upcalls.collectProbeMetrics(), [page], this.registry, clock, log);
  }

  /**
   * Debian resolves the machine's own name to 127.0.1.1. A connection to 0.0.0.0 goes to loopback, and no web site can
   * take that name.
   */
  private hostNames(address: string): string[] {
    const everywhere = address === "0.0.0.0" || address === "::" ? ["0.0.0.0", "[::]"] : [];
    return [this.deps.init.nodeName, hostname(), ...everywhere];
  }

  private healthzListener(): Listener | undefined {
    const { init, clock, log } = this.deps;
    if (init.healthzPort === 0) return undefined;
    const ping = this.slis.observed([pingCheck])[0] ?? pingCheck;
    return new Listener({
      name: "healthz",
      address: init.healthzBindAddress,
      port: init.healthzPort,
      changedBy:
        "--healthz-port and --healthz-bind-address (config fields healthzPort and healthzBindAddress; port 0 turns it off)",
      create: () => plainServer(healthzHandler(ping, this.hostNames(init.healthzBindAddress), log), clock, log),
      clock,
      log,
    });
  }
}
