// Workers in the test's own thread: the same code, contracts, rings and ports as in threads of their own. Messages are
// copied and arrive in a later turn of the event loop, as between threads. A busy worker keeps the others waiting, and
// has no heap of its own.

import type { SpawnWorker } from "../../../src/main/threads/spawn-worker.js";
import type { WorkerName } from "../../../src/main/threads/thread-table.js";
import type { Clock } from "../../../src/shared/base/clock/clock.js";
import type { ThreadInit, WorkerMessage } from "../../../src/shared/contracts/thread.js";
import type { Logger } from "../../../src/shared/telemetry/log/logger.js";
import { WorkerLife, type StartWorker, type WorkerHost } from "../../../src/shared/thread/worker-life.js";
import { startApiServer } from "../../../src/workers/apiserver/start.js";
import { startDockershim } from "../../../src/workers/dockershim/start.js";
import { startEviction } from "../../../src/workers/eviction/start.js";
import { startImageGc } from "../../../src/workers/image-gc/start.js";
import { startNodeStatus } from "../../../src/workers/node-status/start.js";
import { startPeers } from "../../../src/workers/peers/start.js";
import { startPleg } from "../../../src/workers/pleg/start.js";
import { startProber } from "../../../src/workers/prober/start.js";
import { startServer } from "../../../src/workers/server/start.js";

type Launch = (data: ThreadInit<unknown>, host: WorkerHost) => void;

/** The workers by the names of the thread table. */
export const LAUNCHES: Readonly<Record<WorkerName, Launch>> = {
  pleg: launchOf(startPleg),
  server: launchOf(startServer),
  "secure-server": launchOf(startServer),
  prober: launchOf(startProber),
  peers: launchOf(startPeers),
  "image-gc": launchOf(startImageGc),
  dockershim: launchOf(startDockershim),
  apiserver: launchOf(startApiServer),
  "node-status": launchOf(startNodeStatus),
  eviction: launchOf(startEviction),
};

/** The init data of a worker comes from the class of the same row. */
function launchOf<Control extends object, Init, Upcalls extends object>(
  start: StartWorker<Control, Init, Upcalls>,
): Launch {
  return (data, host) => {
    const life = new WorkerLife<Init>(data.name, data as ThreadInit<Init>, host);
    void life.launch(start, () => Promise.resolve(undefined));
  };
}

/** For ThreadContext. */
export function spawnInThisThread(clock: Clock, log: Logger): SpawnWorker {
  return ({ data }, events) => {
    let exited = false;
    let receive: Parameters<WorkerHost["onMessage"]>[0] = () => undefined;
    const exit = (code: number): void => {
      if (exited) return;
      exited = true;
      data.control.close();
      data.upcalls.close();
      setImmediate(() => events.exit(code));
    };
    const toMain = (message: WorkerMessage): void => {
      if (exited) return;
      const copy = structuredClone(message);
      setImmediate(() => events.message(copy));
    };
    const host: WorkerHost = {
      post: toMain,
      onMessage: (listener) => {
        receive = listener;
        if (exited) listener({ kind: "drain" });
      },
      // One thread has one fate.
      commitFault: (fault) => {
        throw new Error(`${data.name} shares its thread: ${fault} would break the test`);
      },
      exit,
      log,
      clock,
    };
    const launch = LAUNCHES[data.name as WorkerName];
    launch({ ...data, init: structuredClone(data.init) }, host);
    return {
      post(message) {
        const copy = structuredClone(message);
        setImmediate(() => {
          if (!exited) receive(copy);
        });
      },
      terminate() {
        exit(1);
        // No thread takes its timers along: it lets go of them itself, unseen.
        receive({ kind: "drain" });
      },
    };
  };
}
