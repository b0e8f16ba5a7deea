// Thread entry: runs startApiServer in a thread of its own.

import type { ApiServerControl, ApiServerInit, ApiServerUpcalls } from "../../shared/contracts/apiserver.js";
import { useOrdinaryPriority } from "../../shared/thread/priority.js";
import { runWorker } from "../../shared/thread/worker.js";
import { startApiServer } from "./start.js";

useOrdinaryPriority();
runWorker<ApiServerControl, ApiServerInit, ApiServerUpcalls>("apiserver", startApiServer, { uncaught: "survive" });
