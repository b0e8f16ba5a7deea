// The request to the runtime's streaming server, which switches protocols or returns an error. Invariant: it ends if
// the client disconnects or the runtime does not respond.

import { type IncomingMessage, request as httpRequest } from "http";
import type { Socket } from "net";
import type { Duplex } from "stream";
import type { Clock } from "../../../shared/base/clock/clock.js";
import type { Passthrough } from "./passage.js";
import { connectRuntime, readToTheEnd } from "./runtime-connection.js";

/** The runtime responds at once: it created the address itself. */
const ANSWER_TIMEOUT_MS = 30000;

interface RuntimeAnswer {
  reply: IncomingMessage;
  /** Absent: it did not switch. */
  socket?: Socket;
  head: Buffer;
}

export async function askRuntime(
  url: URL,
  { method, headers }: Pick<Passthrough, "method" | "headers">,
  client: Duplex,
  clock: Clock,
): Promise<RuntimeAnswer> {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new Error("the client disconnected"));
  const watched = watchEnd(client, leave);
  const late = clock.after(ANSWER_TIMEOUT_MS, () =>
    gone.abort(new Error(`no response for ${ANSWER_TIMEOUT_MS / 1000} s`)),
  );
  const isHttps = url.protocol === "https:";
  const send = isHttps ? (await import("node:https")).request : httpRequest;
  const secureContext = isHttps
    ? (await import("../../../shared/io/net/untrusted-server-tls.js")).untrustedServerContext()
    : undefined;
  try {
    return await new Promise((resolve, reject) => {
      const outgoing = send(url, {
        method,
        headers,
        ...(isHttps ? { agent: false, secureContext } : { createConnection: () => connectRuntime(url) }),
        signal: gone.signal,
        // Its certificate has no name, and the address is this machine's.
        rejectUnauthorized: false,
      });
      outgoing.once("upgrade", (reply, socket, head) => {
        readToTheEnd(socket);
        resolve({ reply, socket, head });
      });
      outgoing.once("response", (reply) => resolve({ reply, head: Buffer.alloc(0) }));
      outgoing.on("error", (error) => reject(gone.signal.aborted ? (gone.signal.reason as Error) : error));
      outgoing.end();
    });
  } finally {
    late.cancel();
    watched();
  }
}

/**
 * A connection without a reader does not notice its end: it is read as far as its buffer allows. @returns ends the
 * watch
 */
function watchEnd(socket: Duplex, onEnd: () => void): () => void {
  const onReadable = (): void => {
    if (socket.readableLength === 0) socket.read();
  };
  socket.on("readable", onReadable).once("end", onEnd).once("close", onEnd);
  return () => {
    socket.off("readable", onReadable).off("end", onEnd).off("close", onEnd);
  };
}
