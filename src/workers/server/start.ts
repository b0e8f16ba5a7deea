// Connects the logic of a server's thread with its thread: the board for health, the log, the upcalls to main.
import type { Clock, Timer } from "../../shared/clock/clock.js";
import { MANIFEST_CALL_MS } from "../../shared/contracts/manifests.js";
import type { ServerControl, ServerInit, ServerUpcalls } from "../../shared/contracts/server.js";
import type { Logger } from "../../shared/log/logger.js";
import type { BoardReader } from "../../shared/queue/board.js";
import { ServerLogic } from "./logic.js";
import type { Remote } from "../../shared/thread/remote-calls.js";
import type { ConnectedClient } from "../../shared/api/client/client.js";
import type { NodeConfigFiles } from "../../shared/api/client/kubeconfig/node-config.js";

/** The part of the worker's context that this thread uses. */
export interface ServerContext {
  name: string;
  init: ServerInit;
  upcalls: Remote<ServerUpcalls>;
  upcallsWithin: (deadlineMs: number) => Pick<Remote<ServerUpcalls>, "manifests">;
  /** Milliseconds since a thread last stamped its slot of the board. */
  boardReader: Pick<BoardReader, "ageMs" | "snapshot">;
  log: Logger;
  clock: Clock;
}

/** Serves requests until drained. Control's methods are bound to their object, as remote calls need them. */
export function startServer(context: ServerContext): Promise<{ control: ServerControl; drain(): Promise<void> }> {
  const { init, upcalls, boardReader, log, clock } = context;
  const flushWatch = new LogFlushWatch(log, clock);
  const api = new LazyApi(init.secure?.api ?? init.admin?.api ?? init.page?.api, clock, log);
  const logic = new ServerLogic({
    thread: context.name === "secure-server" ? context.name : "server",
    init,
    upcalls,
    threads: () => boardReader.snapshot(),
    api: () => api.get(),
    manifests: (call) => context.upcallsWithin(MANIFEST_CALL_MS).manifests(call),
    clock,
    log,
    health: { syncLoopAgeMs: () => boardReader.ageMs("main"), logFlushAgeMs: () => flushWatch.ageMs() },
  });
  logic.start();
  return Promise.resolve({
    control: logic,
    drain: async () => {
      flushWatch.stop();
      await logic.stop();
      await api.close();
    },
  });
}

// Feeds the log health check: asks the log to flush at intervals and remembers when it last managed to. A log whose
// reader is stuck stops flushing, and the age grows.

const FLUSH_INTERVAL_MS = 30_000;

/** @internal */
export class LogFlushWatch {
  private flushedAt: number;
  private readonly timer: Timer;

  constructor(
    log: Pick<Logger, "flush">,
    private readonly clock: Clock,
  ) {
    this.flushedAt = clock.monotonic();
    this.timer = clock.every(FLUSH_INTERVAL_MS, () => {
      log.flush((error) => {
        if (!error) this.flushedAt = clock.monotonic();
      });
    });
    this.timer.unref();
  }

  ageMs(): number {
    return this.clock.monotonic() - this.flushedAt;
  }

  stop(): void {
    this.timer.cancel();
  }
}

// The server thread's own connection to the API server, created for the first review.

/** ReviewTurns limits the reviews of each kind before they come here. */
const NO_LIMIT = -1;

class NoApiServerError extends Error {
  override readonly name = "NoApiServerError";
  constructor() {
    super("this node has no kubeconfig, and so no API server for the request");
  }
}

class LazyApi {
  private client: Promise<ConnectedClient> | undefined;

  /** @param files absent on a stand-alone node */
  constructor(
    private readonly files: NodeConfigFiles | undefined,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Rejects with NoApiServerError or KubeconfigError; a kubeconfig that could not be read is tried again by the next. */
  async get(): Promise<ConnectedClient> {
    if (this.files === undefined) throw new NoApiServerError();
    this.client ??= this.connect(this.files);
    try {
      return await this.client;
    } catch (error) {
      this.client = undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    (await this.client?.catch(() => undefined))?.close();
  }

  private async connect(files: NodeConfigFiles): Promise<ConnectedClient> {
    const [{ createApiClient }, { loadNodeConfig }] = await Promise.all([
      import("../../shared/api/client/client.js"),
      import("../../shared/api/client/kubeconfig/node-config.js"),
    ]);
    const config = await loadNodeConfig(files);
    return createApiClient({ config, qps: NO_LIMIT, clock: this.clock, log: this.log });
  }
}
