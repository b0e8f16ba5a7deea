// Runs a node with its settings: the log starts before everything, then the node; its end decides about a restart.

import { systemClock } from "../../shared/base/clock/clock.js";
import { OperatorError } from "../../shared/base/errors/operator-error.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import { setV8Flags } from "../../shared/io/code/v8-flags.js";
import { replaceProcess } from "../../shared/io/os/execve.js";
import { type Logger, verbose } from "../../shared/telemetry/log/logger.js";
import type { LoggingConfig } from "../../shared/telemetry/log/logging-config.js";
import type { Settings } from "../command/settings.js";
import type { LoggingSettings } from "../command/views/logging.js";
import type { DynamicConfig } from "./dynamic-config/dynamic-config.js";
import { runNode, type Outcome } from "./node-life.js";
import { startLogging, type Logging } from "./unix/logging.js";
import { nameProcess } from "./unix/process-name.js";
import { listenForStop } from "./unix/signals.js";
import { logStart } from "./unix/start-lines.js";
/** What is secret has a mode of its own. */
const UMASK = 0o022;
/** Time limit for writing the last lines before the process exits. */
const LAST_LINES_MS = 2000;
/**
 * Time limit for the last lines of a failed start. On a slow machine main may find the error before the log thread has
 * started.
 */
const ERROR_LINES_MS = 20_000;

/**
 * Runs until a signal, a failure that only a new process can repair, or a configuration that needs a restart; that one
 * takes this process's place. Resolves with the exit code.
 */
export async function run(settings: Settings, dynamic?: DynamicConfig): Promise<number> {
  nameProcess("kubelet");
  // Before any file is made. Under a stricter one, containers of other users could not read their hosts file, nor log
  // collectors their links.
  process.umask(UMASK);
  setV8Flags();
  const logging = startLogging(loggingConfigOf(settings.logging), systemClock);
  const { log } = logging;
  logStart(log, (line) => verbose(log, 1)?.(line), settings);
  for (const warning of settings.warnings) log.warn(warning);
  for (const notice of settings.notices) log.info(notice);
  using stop = listenForStop(process, log);
  let outcome: Outcome;
  try {
    outcome =
      settings.docker.mode === "server"
        ? {
            exitCode: await (
              await import("./docker-runtime.js")
            ).serveDocker(settings, { log, clock: systemClock, stop }),
          }
        : await runNode(settings, { log, stop, dynamic, logging });
  } catch (error) {
    // A signal may end a wait, for example for the lock file. Any other failure is reported, also after a signal.
    outcome = error === stop.aborted.reason ? { exitCode: 0 } : await startFailed(error, log, dynamic);
  }
  if (outcome.restart !== undefined) outcome = await restart(outcome.restart, logging);
  await logging.flush(outcome.exitCode === 0 ? LAST_LINES_MS : ERROR_LINES_MS);
  if (outcome.report !== undefined) process.stdout.write(outcome.report);
  return outcome.exitCode;
}

async function startFailed(error: unknown, log: Logger, dynamic: DynamicConfig | undefined): Promise<Outcome> {
  const message = messageOf(error);
  log.error(error instanceof OperatorError ? {} : { err: error }, `the kubelet can't start: ${message}`);
  await dynamic?.startFailed(message);
  return { exitCode: 1 };
}

/**
 * Replaces this process by one with the same command line, its first word included; the pid stays, and the pods run on.
 */
async function restart(reason: string, logging: Logging): Promise<Outcome> {
  const { log } = logging;
  log.info(`restarting in place: ${reason}`);
  await logging.flush(LAST_LINES_MS);
  try {
    const argv = [process.argv0, ...process.execArgv, ...process.argv.slice(1)];
    replaceProcess({ file: process.execPath, argv, env: process.env });
  } catch (error) {
    log.error({ err: error }, "the kubelet cannot restart in place; it exits so that its supervisor starts it again");
  }
  return { exitCode: 1 };
}

// The settings of logging as src/shared/telemetry/log takes them.
function loggingConfigOf(settings: LoggingSettings): LoggingConfig {
  return {
    format: settings.logFormat,
    verbosity: settings.verbosity,
    vmodule: [...settings.vmodule],
    flushFrequencyMs: settings.logFlushFrequencyMs,
    splitStream: settings.logSplitStream,
    infoBufferBytes: settings.logInfoBufferBytes,
  };
}
