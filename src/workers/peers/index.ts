// Thread entry: runs startPeers in a thread of its own.

import type { PeersControl, PeersInit } from "../../shared/contracts/peers.js";
import { runWorker } from "../../shared/thread/worker.js";
import { startPeers } from "./start.js";

runWorker<PeersControl, PeersInit, object>("peers", startPeers);
