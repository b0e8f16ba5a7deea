// One run of the credential plugin of a kubeconfig.

import type { Clock } from "../../../../../base/clock/clock.js";
import { ProgramFailedError } from "../../../../../io/exec/program-errors.js";
import { runProgram } from "../../../../../io/exec/run-program.js";
import type { ExecConfig } from "../../config.js";
import { CredentialError } from "../errors.js";

/** Status of a failed run, as the metric rest_client_exec_plugin_call_total names it. */
export type ExecFailure = "plugin_not_found_error" | "plugin_execution_error";

export class ExecError extends CredentialError {
  readonly status: ExecFailure;
  /** 1 where there is none. */
  readonly exitCode: number;

  constructor({ command, installHint }: ExecConfig, failed: ProgramFailedError) {
    // The program ran, so it is installed.
    const { failure, message, exitCode = 1 } = failed;
    const hint = installHint === "" || (failure !== "missing" && failure !== "not run") ? "" : `\n${installHint}`;
    super(`the credential plugin ${command} ${message}${hint}`, { cause: failed });
    this.status = failure === "missing" ? "plugin_not_found_error" : "plugin_execution_error";
    this.exitCode = exitCode;
  }
}

/** Its standard output. Rejects with ExecError. */
export async function runCommand(exec: ExecConfig, info: string, clock: Clock): Promise<string> {
  const { command, args, env } = exec;
  const environment = [...env, { name: "KUBERNETES_EXEC_INFO", value: info }];
  try {
    return await runProgram({ command, args, env: environment, clock });
  } catch (error) {
    throw error instanceof ProgramFailedError ? new ExecError(exec, error) : error;
  }
}
