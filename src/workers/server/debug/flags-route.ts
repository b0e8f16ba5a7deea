// PUT /debug/flags/v: how much is logged from now on, in every thread.

import type { IncomingMessage } from "http";
import type { ServerUpcalls } from "../../../shared/contracts/server.js";
import type { Remote } from "../../../shared/thread/remote-calls.js";
import type { Route, Answer } from "../http/answer.js";
import { wantBody } from "../http/http1/bodies.js";
import { replyError, replyPlain } from "../http/reply.js";

const HEADERS = { "X-Content-Type-Options": "nosniff" };
const MAX_BODY = 64;

export function flagsRoute(enabled: boolean, upcalls: Pick<Remote<ServerUpcalls>, "setVerbosity">): Route {
  const answer: Answer = async (request, response) => {
    if (!enabled) {
      replyError(response, 405, "flags endpoint is disabled.");
      return;
    }
    if (request.method !== "PUT") {
      replyPlain(response, 406, "unsupported http method", HEADERS);
      return;
    }
    const body = await readShort(request);
    if (body === undefined || !/^[+-]?\d{1,9}$/.test(body)) {
      const value = JSON.stringify(body ?? "…");
      replyPlain(response, 400, `failed set klog.logging.verbosity ${value}: not a number`, HEADERS);
      return;
    }
    await upcalls.setVerbosity(Math.max(0, Number(body)));
    replyPlain(response, 200, `successfully set klog.logging.verbosity to ${body}`, HEADERS);
  };
  return { path: "/debug/flags/v", answer };
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
