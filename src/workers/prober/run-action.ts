// Maps a probe's action to the module that runs it. The first probe of a type loads its module, so a node loads only the code that its
// probes need.
import type { ProbeSpec } from "../../shared/contracts/prober.js";
import type { ExecProbes } from "./exec.js";
import type { RunContext, RunResult } from "./run.js";

/** Rejects for an error that proves nothing about the container. */
export type RunAction = (spec: ProbeSpec, context: RunContext) => Promise<RunResult>;

/** The pod's probe cannot be run. */
export class ImpossibleProbeError extends Error {
  override readonly name = "ImpossibleProbeError";
}
export const isImpossible = (error: unknown): error is ImpossibleProbeError => error instanceof ImpossibleProbeError;

export function actionRunner(exec: ExecProbes): RunAction {
  return async ({ action, containerId, timeoutMs }, context) => {
    switch (action.type) {
      case "exec":
        return exec.run(action, containerId, timeoutMs, context.deadline);
      case "http":
        return (await import("./http.js")).probeHttp(action, context);
      case "tcp":
        return (await import("./tcp.js")).probeTcp(action, context);
      case "grpc":
        return (await import("./grpc.js")).probeGrpc(action, context);
      case "impossible":
        throw new ImpossibleProbeError(action.reason);
    }
  };
}
