// The kubelet runs with a better niceness than its pods (docs/adr/0007). Threads that work for clients do not. A busy
// HTTP client or a hostile manifest must not take processors from the runtime.

import { setPriority } from "node:os";

/**
 * Gives this thread, and only it (setpriority(2) is per thread on Linux), the niceness that every process starts with.
 */
export function useOrdinaryPriority(): void {
  setPriority(0);
}
