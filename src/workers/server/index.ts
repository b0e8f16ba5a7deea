// Thread entry: the threads that serve HTTP, of both names. The ports in the init data decide what each one serves
// (docs/adr/0081).

import type { ServerControl, ServerInit, ServerUpcalls } from "../../shared/contracts/server.js";
import { useOrdinaryPriority } from "../../shared/thread/priority.js";
import { runWorker } from "../../shared/thread/worker.js";
import { startServer } from "./start.js";

useOrdinaryPriority();
runWorker<ServerControl, ServerInit, ServerUpcalls>(["server", "secure-server"], startServer, { uncaught: "survive" });
