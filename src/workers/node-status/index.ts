// Thread entry: runs startNodeStatus in a thread of its own.

import type { NodeStatusControl, NodeStatusInit, NodeStatusUpcalls } from "../../shared/contracts/node-status.js";
import { runWorker } from "../../shared/thread/worker.js";
import { startNodeStatus } from "./start.js";

runWorker<NodeStatusControl, NodeStatusInit, NodeStatusUpcalls>("node-status", startNodeStatus);
