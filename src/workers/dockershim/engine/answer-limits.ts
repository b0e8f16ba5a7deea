// Bounds of the Engine's answers. dockerode keeps an answer in memory until it is whole, and waits for ever for one
// whose connection broke.
// Invariant: an answer that is no stream ends whole, or with an error at MAX_ANSWER_BYTES, at MAX_VALUES or at the
// connection's end.

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ClientRequest, IncomingMessage } from "node:http";
import { Fault } from "../fault.js";

/** All containers of a full node are some megabytes. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Values of JSON in one answer: tens of thousands of containers. Each takes more memory than it has bytes. */
const MAX_VALUES = 1_000_000;
/** Before each value of a list or an object there is one of these, or the bracket of the list. */
const COMMA = 0x2c;
const LIST = 0x5b;
const OBJECT = 0x7b;
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
  let [bytes, values] = [0, 0];
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    values += valuesIn(chunk);
    if (bytes <= MAX_ANSWER_BYTES && values <= MAX_VALUES) return;
    const what = `the Docker Engine's response to ${request.method} ${request.path.split("?", 1)[0] ?? ""}`;
    const text =
      values > MAX_VALUES
        ? `has more than ${MAX_VALUES} values`
        : `is longer than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB`;
    response.destroy(new Fault("RESOURCE_EXHAUSTED", `${what} ${text}`));
  });
  // dockerode listens to the request only, except for errors in place of a stream.
  response.on("error", (cause: Error) => {
    const ended = (): Fault => new Fault("UNAVAILABLE", "the Docker Engine's response ended in the middle", { cause });
    request.emit("error", cause instanceof Fault ? cause : ended());
  });
}

/** At least as many as JSON's values: those within texts count, too. */
function valuesIn(chunk: Buffer): number {
  let count = 0;
  for (let at = 0; at < chunk.length; at++) {
    const byte = chunk[at] ?? 0;
    if (byte === COMMA || byte === LIST || byte === OBJECT) count++;
  }
  return count;
}
