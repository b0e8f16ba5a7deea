// A GET with its redirects, which are followed on the first request's host only: a pod must not send the kubelet
// elsewhere.

import { quote } from "../../shared/base/text/quote.js";
import { fromBytes } from "../../shared/io/http/bytes.js";
import { LocationError, MAX_REQUESTS, redirectOf, type Redirect } from "../../shared/io/http/client/redirects.js";
import { hostnameOf, urlText } from "../../shared/io/http/client/url.js";
import { exchange, type Exchange } from "./exchange.js";
import { ExchangeError, type Reply } from "./pending-reply.js";

/** No response, or one that leads nowhere: `Get "URL": reason`, as upstream's client has it. */
export class GetError extends Error {
  override readonly name = "GetError";
}

/** The last response. Rejects with GetError, with BodyError, and with OverBudgetError before a connection is made. */
export async function follow(first: Exchange): Promise<Reply> {
  let { request } = first;
  for (let requests = 1; ; requests++) {
    const shown = quote(urlText(request.url));
    const reply = await exchange({ ...first, request }).catch((error: unknown) => {
      throw error instanceof ExchangeError ? new GetError(`Get ${shown}: ${error.message}`, { cause: error }) : error;
    });
    const next = nextOf(reply, first, request, shown);
    if (next === undefined || hostnameOf(next.request.url) !== hostnameOf(first.request.url)) return reply;
    if (requests >= MAX_REQUESTS) {
      throw new GetError(`Get ${quote(fromBytes(next.location))}: stopped after ${MAX_REQUESTS} redirects`);
    }
    request = next.request;
  }
}

function nextOf({ head }: Reply, first: Exchange, last: Exchange["request"], shown: string): Redirect | undefined {
  try {
    return redirectOf(head, first.request, last);
  } catch (error) {
    throw error instanceof LocationError ? new GetError(`Get ${shown}: ${error.message}`, { cause: error }) : error;
  }
}
