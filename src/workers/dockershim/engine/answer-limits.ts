// Bounds of the Engine's answers. dockerode keeps an answer in memory until it is whole, and waits for ever for one whose connection broke.
// Invariant: an answer that is no stream ends whole, or with an error at MAX_ANSWER_BYTES or at the connection's end.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ClientRequest, IncomingMessage } from "node:http";
import { Fault } from "../fault.js";

/** All containers of a full node are some megabytes. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Their readers keep no more than a line of them. Errors in place of a stream are answers like any other. */
const STREAMS = /\/(?:images\/create|events|containers\/[^/]+\/(?:logs|attach)|exec\/[^/]+\/start)(?:\?|$)/;
/** Node publishes each response of the thread's HTTP clients here: https://nodejs.org/api/diagnostics_channel.html */
const RESPONSES = "http.client.response.finish";

/** For all requests of this thread until it is disposed. */
export function limitAnswers(): Disposable {
  subscribe(RESPONSES, limit);
  return { [Symbol.dispose]: () => void unsubscribe(RESPONSES, limit) };
}

function limit(message: unknown): void {
  const { request, response } = { ...(message as { request?: unknown; response?: unknown }) };
  if (!(request instanceof ClientRequest) || !(response instanceof IncomingMessage)) return;
  if (STREAMS.test(request.path) && (response.statusCode ?? 0) < 300) return;
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_ANSWER_BYTES) return;
    const text = `the Docker Engine's response to ${request.method} ${request.path.split("?", 1)[0] ?? ""} is longer than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB`;
    response.destroy(new Fault("RESOURCE_EXHAUSTED", text));
  });
  // dockerode listens to the request only, except for errors in place of a stream.
  response.on("error", (cause: Error) => {
    const ended = (): Fault => new Fault("UNAVAILABLE", "the Docker Engine's response ended in the middle", { cause });
    request.emit("error", cause instanceof Fault ? cause : ended());
  });
}
