// The self-signed serving certificate, created after the threads run: no pod waits for the key of a port.
import type { Clock } from "../../shared/clock/clock.js";
import { errorText } from "../../shared/log/error-text.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import { certificateTasks } from "../node/certificates/certificate-tasks.js";
import type { ServingFiles } from "../node/certificates/certificate-files.js";
import type { TasksPool } from "../threads/tasks-pool.js";
import type { AgentContext } from "./context.js";

interface ServingDeps {
  files: ServingFiles;
  nodeName: string;
  nodeIPs: readonly string[];
  running: Promise<void>;
  tasks: TasksPool;
  clock: Clock;
  log: Logger;
  /** Aborted when the kubelet ends: an interrupted creation is then no error. */
  signal: AbortSignal;
}

/** Never rejects: a failure is logged, and the port stays closed. @internal */
export async function provideServingCertificate(deps: ServingDeps): Promise<void> {
  const { files, nodeName, nodeIPs, running, tasks, clock, signal } = deps;
  if (files.from !== "self-signed") return;
  const log = moduleLogger(deps.log, "certificates");
  try {
    await running;
    const { selfSignedCertificate } = await import("../node/certificates/self-signed.js");
    await selfSignedCertificate({ files, nodeName, nodeIPs, tasks: certificateTasks(tasks), clock, log });
  } catch (error) {
    if (signal.aborted) return;
    const what = errorText(error);
    log.error({ err: error }, `cannot create a serving certificate; the kubelet opens no port without one: ${what}`);
  }
}

/**
 * Created in the background: the key takes a second, and no pod waits for it. Nothing is created while the port is off.
 */
export function startServingCertificate(
  { settings, serving, threads, clock, log }: AgentContext,
  tasks: TasksPool,
): { stop(): void } {
  const ending = new AbortController();
  if (serving !== undefined) {
    const { nodeName, nodeIPs } = settings;
    const { running } = threads;
    const { signal } = ending;
    void provideServingCertificate({ files: serving, nodeName, nodeIPs, running, tasks, clock, log, signal });
  }
  return { stop: () => ending.abort() };
}
