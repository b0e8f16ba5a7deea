// Maps a probe's action to the module that runs it. The first probe of a type loads its module, so a node loads only
// the code that its probes need.

import { InvariantError } from "../../shared/base/errors/invariant.js";
import { lazily } from "../../shared/base/turns/lazily.js";
import { ImpossibleProbeError, type RunAction } from "../../shared/node/probes/run.js";
import type { ExecProbes } from "./exec.js";

export function actionRunner(exec: ExecProbes): RunAction {
  const tcp = lazily(() => import("./tcp.js"));
  return async ({ action, containerId, timeoutMs }, context) => {
    switch (action.type) {
      case "exec":
        return exec.run(action, containerId, timeoutMs, context.deadline);
      case "tcp":
        return (await tcp()).probeTcp(action, context);
      case "impossible":
        throw new ImpossibleProbeError(action.reason);
      case "http":
      case "grpc":
        throw new InvariantError(`the prober thread runs no ${action.type} probes`);
    }
  };
}
