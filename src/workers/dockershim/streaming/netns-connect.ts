// A connection to a port in a sandbox's network namespace, without a helper program. This thread creates the socket
// while it is in that namespace, and a socket keeps its namespace. Other threads are not affected (setns(2)).

import { open } from "node:fs/promises";
import { Socket } from "node:net";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { runInNetworkNamespace } from "../../../shared/io/os/network-namespace.js";

const LOOPBACKS = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
] as const;
/** A port on loopback answers at once, or its queue is full. */
const CONNECT_MS = 10_000;

/** Connects to the port on loopback, IPv4 before IPv6. @param namespace path: "/proc/7/ns/net" */
export async function connectInNamespace(
  namespace: string,
  port: number,
  clock: Pick<Clock, "after">,
): Promise<Socket> {
  const file = await open(namespace, "r");
  try {
    let refused: unknown;
    for (const loopback of LOOPBACKS) {
      try {
        return await connected(file.fd, loopback, port, clock);
      } catch (error) {
        refused ??= error;
        if (!["ECONNREFUSED", "EADDRNOTAVAIL", "EAFNOSUPPORT", "ENETUNREACH"].includes(errorCode(error) ?? "")) break;
      }
    }
    throw refused;
  } finally {
    await file.close();
  }
}

function connected(
  namespaceFd: number,
  { address, family }: (typeof LOOPBACKS)[number],
  port: number,
  clock: Pick<Clock, "after">,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = new Socket();
    const late = clock.after(CONNECT_MS, () => socket.destroy(new Error(`no response for ${CONNECT_MS / 1000} s`)));
    socket.once("connect", () => {
      late.cancel();
      socket.off("error", reject);
      resolve(socket);
    });
    // The second one: an error between now and the caller's own handler is in "close", too.
    socket.once("error", reject).on("error", () => undefined);
    socket.once("close", () => late.cancel());
    socket.connect({
      host: "sandbox",
      port,
      family,
      autoSelectFamily: false,
      // Node makes the socket inside of this callback.
      lookup: (_host, _options, found) =>
        runInNetworkNamespace(namespaceFd, () => {
          found(null, address, family);
          // Never one made later: that would be the node's own loopback.
          if (!("port" in socket.address())) socket.destroy(new Error("the socket was not made in the sandbox"));
        }),
    });
  });
}
