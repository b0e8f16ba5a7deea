// The jobs of the tasks pool, by the names of the contract (shared/contracts/tasks.ts).
export { describeCertificate } from "./certificates/certificate-jobs.js";
export { issueCertificates, makeCertificateRequest, makeSelfSigned } from "./certificates/certificate-jobs.js";
export { makePodKey } from "./certificates/pod-keys.js";
export { compressLog } from "./compress-log.js";
export { decodeManifest } from "./manifest/decode.js";
export { decodeSubmitted } from "./manifest/decode-submitted.js";
export { changeOwnership } from "./ownership/change-ownership.js";
export { directoryUsage } from "./usage/directory-usage.js";
