// PUT /debug/flags/v: how much is logged from now on, in every thread.

import type { IncomingMessage, ServerResponse } from "http";
import type { ServerUpcalls } from "../../../shared/contracts/server.js";
import type { Remote } from "../../../shared/thread/remote-calls.js";
import type { Route, Answer } from "../http/answer.js";
import { wantBody } from "../http/http1/bodies.js";
import { replyAs, replyError } from "../http/reply.js";

const MAX_BODY = 64;
/** klog keeps the verbosity in a signed number of 32 bits. */
const HIGHEST_INT32 = 2 ** 31 - 1;

export function flagsRoute(enabled: boolean, upcalls: Pick<Remote<ServerUpcalls>, "setVerbosity">): Route {
  const answer: Answer = async (request, response) => {
    if (!enabled) {
      replyError(response, 405, "flags endpoint is disabled.");
      return;
    }
    if (request.method !== "PUT") {
      reply(response, 406, "unsupported http method");
      return;
    }
    const body = await readShort(request);
    const problem = problemOf(body);
    if (problem !== undefined) {
      reply(response, 400, `strconv.ParseUint: parsing ${JSON.stringify(body ?? "…")}: ${problem}`);
      return;
    }
    await upcalls.setVerbosity(Number(body));
    reply(response, 200, `successfully set klog.logging.verbosity to ${body}`);
  };
  return { path: "/debug/flags/v", answer };
}

/** As Go reads an unsigned number of 32 bits; undefined: it is one. */
function problemOf(body: string | undefined): string | undefined {
  if (body === undefined || !/^\d+$/.test(body)) return "invalid syntax";
  return Number(body) > HIGHEST_INT32 ? "value out of range" : undefined;
}

/** Upstream's handler names no charset. */
function reply(response: ServerResponse, status: number, text: string): void {
  replyAs(response, status, "text/plain", `${text}\n`);
}

/** undefined: longer than any number. */
async function readShort(request: IncomingMessage): Promise<string | undefined> {
  let text = "";
  wantBody(request);
  for await (const part of request as AsyncIterable<Buffer>) {
    text += part.toString("utf8");
    if (text.length > MAX_BODY) return undefined;
  }
  return text;
}
