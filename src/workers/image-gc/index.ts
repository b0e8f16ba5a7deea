// Thread entry: runs startImageGc in a thread of its own.

import type { ImageGcControl, ImageGcInit, ImageGcUpcalls } from "../../shared/contracts/image-gc.js";
import { useOrdinaryPriority } from "../../shared/thread/priority.js";
import { runWorker } from "../../shared/thread/worker.js";
import { startImageGc } from "./start.js";

useOrdinaryPriority();
runWorker<ImageGcControl, ImageGcInit, ImageGcUpcalls>("image-gc", startImageGc);
