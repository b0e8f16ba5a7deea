// The self-signed serving certificate, created after the threads run: its key takes a second, and no pod waits for
// that.

import { unlessAborted } from "../../shared/base/abort/unless-aborted.js";
import type { Clock } from "../../shared/base/clock/clock.js";
import { Deferred } from "../../shared/base/turns/deferred.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import { moduleLogger, type Logger } from "../../shared/telemetry/log/logger.js";
import type { ServingFiles } from "../node/certificates/certificate-files.js";
import { certificateTasks } from "../node/certificates/certificate-tasks.js";
import type { TasksPool } from "../threads/tasks-pool.js";

export interface ServingDeps {
  /** Undefined: the port is off. */
  files: ServingFiles | undefined;
  nodeName: string;
  nodeIPs: readonly string[];
  /** Resolves when the threads run. */
  running: Promise<void>;
  tasks: TasksPool;
  clock: Clock;
  log: Logger;
}

/** On a machine without processor time the key takes longer than its deadline. */
const AGAIN_MS = 10_000;

/**
 * After a failure the port stays closed until the next try. Undefined: the certificate comes from elsewhere, or none is
 * needed.
 */
export function deferredServingCertificate(deps: ServingDeps): Deferred<void> | undefined {
  const { files, nodeName, nodeIPs, running, tasks, clock } = deps;
  if (files?.from !== "self-signed") return undefined;
  const log = moduleLogger(deps.log, "certificates");
  const make = async (): Promise<void> => {
    await running;
    const { selfSignedCertificate } = await import("../node/certificates/self-signed.js");
    await selfSignedCertificate({ files, nodeName, nodeIPs, tasks: certificateTasks(tasks), clock, log });
  };
  return new Deferred({
    name: "the serving certificate",
    when: {
      ms: 0,
      againMs: AGAIN_MS,
      clock,
      failed: (error) => {
        const problem = "cannot create a serving certificate; the kubelet opens no port without one";
        log.error({ err: error }, `${problem}: ${errorText(error)}; it is tried again in ${AGAIN_MS / 1000} s`);
      },
    },
    // A stop waits neither for the threads nor for the key.
    load: (signal) => unlessAborted(make(), signal),
  });
}
