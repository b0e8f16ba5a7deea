// Thread entry: runs startPleg in a thread of its own.

import type { PlegControl, PlegInit } from "../../shared/contracts/pleg.js";
import { runWorker } from "../../shared/thread/worker.js";
import { startPleg } from "./start.js";

runWorker<PlegControl, PlegInit, object>("pleg", startPleg);
