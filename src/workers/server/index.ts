// Thread entry: the HTTP server's thread.
import type { ServerControl, ServerInit, ServerUpcalls } from "../../shared/contracts/server.js";
import { useOrdinaryPriority } from "../../shared/thread/priority.js";
import { runWorker } from "../../shared/thread/worker.js";
import { startServer } from "./start.js";

useOrdinaryPriority();
runWorker<ServerControl, ServerInit, ServerUpcalls>("server", startServer, { uncaught: "survive" });
