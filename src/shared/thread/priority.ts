// The kubelet runs above its pods (docs/adr/0007); threads whose work others ask for do not: a busy client of the HTTP
// server or a hostile manifest must not take processors from the runtime.
import { setPriority } from "node:os";

/** Gives this thread, and only it (setpriority(2) is per thread on Linux), the niceness that every process starts with. */
export function useOrdinaryPriority(): void {
  setPriority(0);
}
