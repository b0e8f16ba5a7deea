// Thread entry: runs startDockershim in a thread of its own.

import type { DockershimControl, DockershimInit } from "../../shared/contracts/dockershim.js";
import { runWorker } from "../../shared/thread/worker.js";
import { startDockershim } from "./start.js";

runWorker<DockershimControl, DockershimInit, object>("dockershim", startDockershim);
