// A GET with its redirects, which are followed on the first request's host only: a pod must not send the kubelet
// elsewhere.

import { quote } from "../../shared/base/text/quote.js";
import { fromBytes } from "../../shared/io/http/bytes.js";
import {
  LocationError,
  MAX_REQUESTS,
  redirectOf,
  type GetRequest,
  type Redirect,
} from "../../shared/io/http/client/redirects.js";
import { hostnameOf, urlText } from "../../shared/io/http/client/url.js";
import { exchange, type Exchange } from "./exchange.js";
import { ExchangeError, type Head, type Reply } from "./pending-reply.js";

/** No response, or one that leads nowhere: `Get "URL": reason`, as upstream's client has it. */
export class GetError extends Error {
  override readonly name = "GetError";
}

/** The last response. Rejects with GetError, with BodyError, and with OverBudgetError before a connection is made. */
export async function follow(first: Exchange): Promise<Reply> {
  let { request } = first;
  for (let requests = 1; ; requests++) {
    const last = request;
    const shown = quote(urlText(last.url));
    const nextOf = (head: Head): Redirect | LocationError | undefined => followed(head, first.request, last);
    const wanted = { ...first, request: last };
    const reply = await exchange(wanted, (head) => nextOf(head) === undefined).catch((error: unknown) => {
      throw error instanceof ExchangeError ? new GetError(`Get ${shown}: ${error.message}`, { cause: error }) : error;
    });
    const next = nextOf(reply.head);
    if (next === undefined) return reply;
    if (next instanceof LocationError) throw new GetError(`Get ${shown}: ${next.message}`, { cause: next });
    if (requests >= MAX_REQUESTS) {
      throw new GetError(`Get ${quote(fromBytes(next.location))}: stopped after ${MAX_REQUESTS} redirects`);
    }
    request = next.request;
  }
}

/** Where the response leads; undefined: nowhere, or to another host. The body of one that leads on means nothing. */
function followed(head: Head, first: GetRequest, last: GetRequest): Redirect | LocationError | undefined {
  try {
    const next = redirectOf(head, first, last);
    return next !== undefined && hostnameOf(next.request.url) === hostnameOf(first.url) ? next : undefined;
  } catch (error) {
    if (!(error instanceof LocationError)) throw error;
    return error;
  }
}
