// How much garbage the worker threads' heaps may gather before V8 looks at it. Called once, before the first thread starts.
import { setFlagsFromString } from "node:v8";

/**
 * MiB of a semi-space, of which a heap has two; what a burst has made them grow to stays for minutes. Main's are larger,
 * as the entry point's first line says: that flag counts more than a Worker's maxYoungGenerationSizeMb, which
 * is therefore given nowhere.
 */
const SEMI_SPACE_MIB = 1;

export function limitYoungGenerations(): void {
  // Main's heap has its limits already.
  setFlagsFromString(`--max-semi-space-size=${SEMI_SPACE_MIB}`);
}
