// tcpSocket probes: success is a connection that comes about.

import type { ProbeAction } from "../../shared/contracts/prober.js";
import { dial, DialError, reset } from "../../shared/io/net/dial.js";
import { failure, success, type RunContext, type RunResult } from "../../shared/node/probes/run.js";

export async function probeTcp(
  { host, port }: Extract<ProbeAction, { type: "tcp" }>,
  { deadline }: RunContext,
): Promise<RunResult> {
  try {
    reset(await dial(host, port, deadline.signal));
    return success();
  } catch (error) {
    if (error instanceof DialError) return failure(error.message);
    throw error;
  }
}
