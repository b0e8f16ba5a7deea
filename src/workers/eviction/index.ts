// Thread entry: runs startEviction in a thread of its own.

import type { EvictionControl, EvictionInit, EvictionUpcalls } from "../../shared/contracts/eviction.js";
import { runWorker } from "../../shared/thread/worker.js";
import { startEviction } from "./start.js";

runWorker<EvictionControl, EvictionInit, EvictionUpcalls>("eviction", startEviction);
