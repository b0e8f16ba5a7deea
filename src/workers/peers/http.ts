// httpGet probes: one GET, redirects followed on the same host only, status 200 to 399 is success. A response whose
// body breaks off or never ends proves nothing about the container: the run is an error, as upstream has it.

import { requestOf, type GetAction } from "../../shared/io/http/client/get-action.js";
import { failure, success, type RunContext, type RunResult } from "../../shared/node/probes/run.js";
import { OverBudgetError } from "./accounts.js";
import { follow, GetError } from "./follow.js";
import type { Guard } from "./guarded-source.js";
import type { Reply } from "./pending-reply.js";

/** Rejects with BodyError, and with UrlError for an action that makes no URL. */
export async function probeHttp(
  action: GetAction,
  { deadline, userAgent }: RunContext,
  peers: Guard,
): Promise<RunResult> {
  try {
    return verdictOf(await follow({ request: requestOf(action, userAgent), signal: deadline.signal, peers }));
  } catch (error) {
    if (error instanceof OverBudgetError) return failure(`probe not run: ${error.message}`);
    if (error instanceof GetError) return failure(error.message);
    throw error;
  }
}

function verdictOf({ head: { status }, body }: Reply): RunResult {
  if (status < 200 || status >= 400) return failure(`HTTP probe failed with statuscode: ${status}`);
  if (status < 300) return success(body);
  return { outcome: "warning", output: `Probe terminated redirects, Response body: ${body}` };
}
