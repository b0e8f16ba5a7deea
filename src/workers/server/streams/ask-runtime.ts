// The request to the runtime's streaming server, which answers by switching protocols or by saying why not.
// Invariant: a client that goes away, and a runtime that says nothing, end it.
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "../../../shared/clock/clock.js";
import type { Passage } from "./passage.js";

/** The runtime answers at once: it made the address itself. */
const ANSWER_TIMEOUT_MS = 30_000;

export interface RuntimeAnswer {
  reply: IncomingMessage;
  /** Absent: it did not switch. */
  socket?: Socket;
  head: Buffer;
}

export async function askRuntime(
  url: URL,
  { method, headers }: Pick<Passage, "method" | "headers">,
  client: Duplex,
  clock: Clock,
): Promise<RuntimeAnswer> {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new Error("the client went away"));
  const watched = watchEnd(client, leave);
  const late = clock.after(ANSWER_TIMEOUT_MS, () =>
    gone.abort(new Error(`no answer for ${ANSWER_TIMEOUT_MS / 1000} s`)),
  );
  const send = url.protocol === "https:" ? (await import("node:https")).request : httpRequest;
  try {
    return await new Promise((resolve, reject) => {
      const outgoing = send(url, {
        method,
        headers,
        agent: false,
        signal: gone.signal,
        // Its certificate has no name, and the address is this machine's.
        rejectUnauthorized: false,
      });
      outgoing.once("upgrade", (reply, socket, head) => resolve({ reply, socket, head }));
      outgoing.once("response", (reply) => resolve({ reply, head: Buffer.alloc(0) }));
      outgoing.on("error", (error) => reject(gone.signal.aborted ? (gone.signal.reason as Error) : error));
      outgoing.end();
    });
  } finally {
    late.cancel();
    watched();
  }
}

/** A connection without a reader does not see its end: it is read as far as its buffer goes. @returns ends the watch */
function watchEnd(socket: Duplex, onEnd: () => void): () => void {
  const onReadable = (): void => {
    if (socket.readableLength === 0) socket.read();
  };
  socket.on("readable", onReadable).once("end", onEnd).once("close", onEnd);
  return () => {
    socket.off("readable", onReadable).off("end", onEnd).off("close", onEnd);
  };
}
