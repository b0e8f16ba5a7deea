// One run of a credential provider plugin: the request on its standard input, the response on its standard output.
// What must hold: no run outlives its deadline, its caller or a flood of output; a plugin that hangs is killed.
import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Clock } from "../../../shared/clock/clock.js";
import { errorCode } from "../../../shared/fs/atomic-write.js";
import type { CredentialProviderSettings } from "./config.js";
import { PluginError, readResponse, type PluginResponse } from "./response.js";

/** Facts/constants.tsv. */
const DEADLINE_MS = 60_000;
const OUTPUT_LIMIT = 1024 * 1024;
/** Of standard error, for the message. */
const STDERR_SHOWN = 1024;

export interface PluginRun {
  binDir: string;
  settings: CredentialProviderSettings;
  image: string;
  clock: Clock;
  signal: AbortSignal;
}

/** Rejects with PluginError, or the signal's reason. */
export async function execPlugin(run: PluginRun): Promise<PluginResponse> {
  const { name, apiVersion } = run.settings;
  const request = { kind: "CredentialProviderRequest", apiVersion, image: run.image };
  return readResponse(await outputOf(run, JSON.stringify(request)), name, apiVersion);
}

function outputOf({ binDir, settings, clock, signal }: PluginRun, input: string): Promise<string> {
  const { name, args, env } = settings;
  signal.throwIfAborted();
  const child = spawn(join(binDir, name), args, {
    env: { ...process.env, ...Object.fromEntries(env.map((each) => [each.name, each.value])) },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true, // a process group of its own: what it started is killed with it
  });
  return new Promise<string>((resolve, reject) => {
    const output: Buffer[] = [];
    let size = 0;
    let stderr = "";
    const settle = (act: () => void): void => {
      timer.cancel();
      signal.removeEventListener("abort", onAbort);
      act();
    };
    const giveUp = (error: Error): void => {
      killGroup(child.pid);
      child.stdout.destroy();
      child.stderr.destroy();
      settle(() => reject(error));
    };
    const onAbort = (): void => giveUp(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
    const timer = clock.after(DEADLINE_MS, () => {
      giveUp(new PluginError(name, `no answer within ${DEADLINE_MS / 1000} s, killed`));
    });
    signal.addEventListener("abort", onAbort, { once: true });
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > OUTPUT_LIMIT) giveUp(new PluginError(name, `more than ${OUTPUT_LIMIT} bytes of output, killed`));
      else output.push(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      if (stderr.length < STDERR_SHOWN) stderr = (stderr + chunk.toString("utf8")).slice(0, STDERR_SHOWN);
    });
    // A plugin that ends without reading: its exit status tells more than the broken pipe.
    child.stdin.on("error", () => undefined);
    child.on("error", (error) => {
      settle(() => reject(new PluginError(name, `can't be run: ${error.message}`, { cause: error })));
    });
    child.on("close", (code, killedBy) => {
      if (code === 0) settle(() => resolve(Buffer.concat(output).toString("utf8")));
      else {
        const how = killedBy === null ? `exit status ${code ?? "unknown"}` : `killed by ${killedBy}`;
        const said = stderr.trim() === "" ? "" : `: ${stderr.trim()}`;
        settle(() => reject(new PluginError(name, `${how}${said}`)));
      }
    });
    child.stdin.end(input);
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
