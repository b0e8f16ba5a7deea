// The end of a connection after its last response.

import type { Duplex } from "node:stream";
import type { Clock } from "../../../shared/base/clock/clock.js";

export interface Linger {
  /** From the end of the response until the connection is cut. */
  lingerMs: number;
  clock: Clock;
}

/**
 * Sends `last`, ends the kubelet's side, and cuts the connection after `lingerMs` at the latest. Further bytes of the
 * client are read and dropped. Unread bytes would hide the client's end, and would reset a response that it has not
 * read yet.
 */
export function endAndLinger(socket: Duplex, { lingerMs, clock }: Linger, last = ""): void {
  socket.end(last);
  socket.resume();
  const late = clock.after(lingerMs, () => socket.destroy());
  socket.once("close", () => late.cancel());
}
