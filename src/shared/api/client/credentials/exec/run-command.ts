// One run of a credential plugin.
// What must hold: no run outlives its deadline or a flood of output; what it prints to standard output is in no message.
import { spawn } from "node:child_process";
import type { Clock } from "../../../../clock/clock.js";
import { errorCode } from "../../../../fs/atomic-write.js";
import type { ExecConfig } from "../../config.js";
import { CredentialError } from "../errors.js";

/** client-go sets none, and would wait for ever. */
const DEADLINE_MS = 60_000;
const OUTPUT_LIMIT = 1024 * 1024;
/** Of standard error, for the message. */
const STDERR_SHOWN = 1024;

/** How a run failed, in the words of rest_client_exec_plugin_call_total. */
export type ExecFailure = "plugin_not_found_error" | "plugin_execution_error";

export class ExecError extends CredentialError {
  constructor(
    { command, installHint }: ExecConfig,
    readonly status: ExecFailure,
    /** 1 where there is none. */
    readonly exitCode: number,
    why: string,
  ) {
    super(`the credential plugin ${command} ${why}${installHint === "" ? "" : `\n${installHint}`}`);
  }
}

/** Its standard output. Rejects with ExecError. */
export function runCommand(exec: ExecConfig, info: string, clock: Clock): Promise<string> {
  const failed = (why: string, exitCode = 1): ExecError =>
    new ExecError({ ...exec, installHint: "" }, "plugin_execution_error", exitCode, why);
  const child = spawn(exec.command, exec.args, {
    env: {
      ...process.env,
      ...Object.fromEntries(exec.env.map(({ name, value }) => [name, value])),
      KUBERNETES_EXEC_INFO: info,
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // a process group of its own: what it started is killed with it
  });
  return new Promise<string>((resolve, reject) => {
    const output: Buffer[] = [];
    let size = 0;
    let stderr = "";
    const giveUp = (error: ExecError): void => {
      timer.cancel();
      killGroup(child.pid);
      child.stdout.destroy();
      child.stderr.destroy();
      reject(error);
    };
    const timer = clock.after(DEADLINE_MS, () =>
      giveUp(failed(`gave no answer within ${DEADLINE_MS / 1000} s, killed`)),
    );
    child.stdout.on("data", (block: Buffer) => {
      size += block.length;
      if (size > OUTPUT_LIMIT) giveUp(failed(`printed more than ${OUTPUT_LIMIT} bytes, killed`));
      else output.push(block);
    });
    child.stderr.on("data", (block: Buffer) => {
      if (stderr.length < STDERR_SHOWN) stderr = (stderr + block.toString("utf8")).slice(0, STDERR_SHOWN);
    });
    child.on("error", (error) => {
      timer.cancel();
      const isMissing = errorCode(error) === "ENOENT";
      const status = isMissing ? "plugin_not_found_error" : "plugin_execution_error";
      reject(new ExecError(exec, status, 1, isMissing ? "is not there" : `can't be run: ${error.message}`));
    });
    child.on("close", (code, killedBy) => {
      timer.cancel();
      if (code === 0) {
        resolve(Buffer.concat(output).toString("utf8"));
        return;
      }
      const how = killedBy === null ? `ended with exit status ${code ?? "unknown"}` : `was killed by ${killedBy}`;
      const said = stderr.trim();
      reject(failed(`${how}${said === "" ? "" : `: ${said}`}`, code ?? 1));
    });
  });
}

/** SIGKILL: what hangs need not listen to anything milder. */
function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}
