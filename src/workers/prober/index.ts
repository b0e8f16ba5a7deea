// Thread entry: runs startProber in a thread of its own.

import type { ProberControl, ProberInit } from "../../shared/contracts/prober.js";
import { runWorker } from "../../shared/thread/worker.js";
import { startProber } from "./start.js";

runWorker<ProberControl, ProberInit, object>("prober", startProber);
