// Entry of the tasks pool's threads: piscina calls these functions by name (shared/contracts/tasks.ts).
export { decodeManifest } from "./manifest/decode.js";
