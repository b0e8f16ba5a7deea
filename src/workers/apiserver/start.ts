// Starts the API server of a node without a cluster: its store, then its port.

import { hostname } from "node:os";
import type { ApiServerControl, ApiServerInit, ApiServerUpcalls } from "../../shared/contracts/apiserver.js";
import type { NodeStatusInit } from "../../shared/contracts/node-status.js";
import type { ThreadInit } from "../../shared/contracts/thread.js";
import { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import { watchThreadUsage } from "../../shared/telemetry/metrics/thread-usage.js";
import { runGuest } from "../../shared/thread/guest.js";
import type { StartWorker } from "../../shared/thread/worker-life.js";
import { startNodeStatus } from "../node-status/start.js";
import { CONNECTION_LIMITS } from "../server/ports/https-server.js";
import { onlyOwnHost } from "../server/ports/own-host.js";
import { SecurePort } from "../server/ports/secure-port.js";
import { ApiGate } from "./doors/gate.js";
import { Watches } from "./doors/watches.js";
import { expireEvents, furnish } from "./furnish.js";
import { HandEdits } from "./hand-edits.js";
import { RESOURCES } from "./objects/resources.js";
import { Readers } from "./readers.js";
import { Store } from "./store/store.js";
import type { World } from "./world.js";

/** For the pool to load its library and make keys, on a busy machine. */
const UPCALL_MS = 120_000;

export const startApiServer: StartWorker<ApiServerControl, ApiServerInit, ApiServerUpcalls> = async (context) => {
  const { init, log, clock } = context;
  const registry = new ThreadRegistry("apiserver");
  watchThreadUsage(registry);
  const { directory, nodeName, volumesDir, adminSocket, address, port: number, tls, clientCAFile } = init;
  const store = await Store.open({ directory, resources: RESOURCES, log });
  const world: World = { store, clock, nodeName, volumesDir };
  await furnish(world);
  const expiry = expireEvents(world, log);
  const edits = new HandEdits(world, log);
  await edits.start();
  let gate: ApiGate | undefined;
  const readers = new Readers({
    path: init.readersFile,
    clock,
    log,
    onChange: () => gate?.endRefused(),
    update: (names) => context.upcallsWithin(UPCALL_MS).readersChanged(names),
  });
  await readers.start();
  const watches = new Watches(world);
  const port = new SecurePort({
    name: "API",
    changedBy: "--api-server-port and --api-server-address (port 0 turns it off)",
    init: { port: number, tls, authentication: { clientCAFile } },
    address,
    gate: (side) => {
      gate = new ApiGate({ world, watches, adminSocket, isReader: readers.isReader, log }, side);
      return { handle: onlyOwnHost([nodeName, hostname()], gate.handle), onMalformed: gate.onMalformed };
    },
    limits: CONNECTION_LIMITS,
    clock,
    log,
  });
  await port.start();
  return {
    control: {
      listening: () => port.listening(),
      metrics: () => registry.exportSnapshot(),
      host: ({ data, port: messages }) => {
        runGuest(data as ThreadInit<NodeStatusInit>, messages, startNodeStatus, clock);
      },
    },
    async drain() {
      expiry.cancel();
      watches.endAll();
      readers.close();
      await port.close();
      await edits.close();
      await store.close();
    },
  };
};
