// Entry of the thread in which the nodelet command reads manifests (shared/contracts/manifest-reading.ts).

import { parentPort } from "node:worker_threads";
import type { ReadManifestsJob } from "../../shared/contracts/manifest-reading.js";
import { readDocuments } from "./manifest/read-documents.js";

parentPort?.on("message", (job: ReadManifestsJob) => parentPort?.postMessage(readDocuments(job)));
