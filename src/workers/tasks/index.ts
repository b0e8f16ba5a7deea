// Entry of the tasks pool's threads: piscina calls these functions by name (shared/contracts/tasks.ts).
import { useOrdinaryPriority } from "../../shared/thread/priority.js";

export { describeCertificate } from "./certificates/certificate-jobs.js";
export { makeCertificateRequest, makeSelfSigned } from "./certificates/certificate-jobs.js";
export { makePodKey } from "./certificates/pod-keys.js";
export { compressLog } from "./compress-log.js";
export { decodeManifest } from "./manifest/decode.js";
export { decodeSubmitted } from "./manifest/decode-submitted.js";
export { changeOwnership } from "./ownership/change-ownership.js";
export { directoryUsage } from "./usage/directory-usage.js";

/** For a thread that is to be loaded before its first job. */
export function awake(): void {
  // To have run is all.
}

useOrdinaryPriority();
