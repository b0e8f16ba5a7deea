// Errors of calls to systemd, one class per cause. A message names the call and the unit.

import { OperatorError } from "../../../../shared/base/errors/operator-error.js";
import { messageOf } from "../../../../shared/base/errors/thrown.js";
import { quote } from "../../../../shared/base/text/quote.js";

const INSTEAD = "set cgroupDriver: cgroupfs here and in the runtime's configuration";

/** The subject of a call: the manager's method and the unit. */
export interface SystemdSubject {
  method: string;
  unit: string;
}

/** No process responds at systemd's socket. */
export function systemdUnreachableError(socket: string, tries: number, cause: unknown): OperatorError {
  return new OperatorError(
    `cannot reach systemd at ${socket} after ${tries} tries: ${messageOf(cause)}; ` +
      `is systemd process 1 here, and does the kubelet run as root? If not, ${INSTEAD}`,
    { cause },
  );
}

/** The connection ended before the reply came: whether the call took effect is unknown. */
export class SystemdConnectionLostError extends OperatorError {
  override readonly name = "SystemdConnectionLostError";
  constructor({ method, unit }: SystemdSubject, cause?: unknown) {
    const why = cause === undefined ? "" : `: ${messageOf(cause)}`;
    super(`the connection to systemd closed during ${method} of ${unit}${why}; trying again`, { cause });
  }
}

/** No reply, or no end of the job, in time. */
export function systemdDeadlineError({ method, unit }: SystemdSubject, deadlineMs: number): OperatorError {
  return new OperatorError(
    `systemd did not finish ${method} of ${unit} within ${deadlineMs / 1000} s; ` +
      `"systemctl list-jobs" shows the jobs that it waits for`,
  );
}

/** systemd refused the call. */
export class SystemdCallError extends OperatorError {
  override readonly name = "SystemdCallError";
  /** D-Bus error name, e.g. "org.freedesktop.systemd1.UnitExists". */
  readonly dbusName: string;
  constructor({ method, unit }: SystemdSubject, dbusName: string, message: string) {
    super(`systemd refused ${method} of ${unit}: ${message} (${dbusName}); "systemctl status ${unit}" shows the unit`);
    this.dbusName = dbusName;
  }
}

/** The job ended otherwise than done. */
export function systemdJobError({ method, unit }: SystemdSubject, result: string): OperatorError {
  return new OperatorError(
    `the systemd job of ${method} of ${unit} ended with ${quote(result)}; ` +
      `"systemctl status ${unit}" and the journal show the reason`,
  );
}
