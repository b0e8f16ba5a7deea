// The verbs of systemd's manager that the cgroup tree needs. Each waits for the end of its own job, and each may be
// repeated.

import type { Clock } from "../../../../shared/base/clock/clock.js";
import type { Logger } from "../../../../shared/telemetry/log/logger.js";
import { SYSTEMD_SOCKET, type DbusValue } from "./systemd-connection.js";
import { SystemdCallError, type SystemdSubject, systemdJobError } from "./systemd-errors.js";
import { SystemdLink } from "./systemd-link.js";
import type { UnitProperty } from "./systemd-properties.js";

/** All may throw OperatorError and SystemdCallError. */
export interface SystemdUnits {
  /**
   * Starts a transient unit with all properties. A unit that exists (made before, or by a file of the administrator)
   * gets `settable` and is started if it does not run.
   * @throws OperatorError
   */
  start(unit: string, atStart: readonly UnitProperty[], settable: readonly UnitProperty[]): Promise<void>;
  /** Changes properties of a unit until the next boot. */
  set(unit: string, properties: readonly UnitProperty[]): Promise<void>;
  isLoaded(unit: string): Promise<boolean>;
  /** Stops the unit and its processes; no error if the unit does not exist. @throws OperatorError */
  stop(unit: string): Promise<void>;
  close(): void;
}

export interface SystemdUnitsOptions {
  clock: Clock;
  log: Logger;
  socketPath?: string;
  deadlineMs?: number;
}

const DEADLINE_MS = 30_000;
const UNIT_EXISTS = "org.freedesktop.systemd1.UnitExists";
const NO_SUCH_UNIT = "org.freedesktop.systemd1.NoSuchUnit";
/** A new job replaces a queued one of the same unit. */
const MODE = "replace";
/** Until the next boot, like the transient unit itself. */
const RUNTIME = true;

export function systemdUnits({ clock, log, socketPath, deadlineMs }: SystemdUnitsOptions): SystemdUnits {
  const link = new SystemdLink({
    socketPath: socketPath ?? SYSTEMD_SOCKET,
    deadlineMs: deadlineMs ?? DEADLINE_MS,
    clock,
    log,
  });
  const call = (subject: SystemdSubject, signature: string, body: DbusValue[]): Promise<unknown[]> =>
    link.run(subject, (connection, signal) => connection.call(subject, signature, body, signal));
  const runJob = async (subject: SystemdSubject, signature: string, body: DbusValue[]): Promise<void> => {
    const result = await link.run(subject, (connection, signal) => connection.runJob(subject, signature, body, signal));
    if (result !== "done") throw systemdJobError(subject, result);
  };
  const set = async (unit: string, properties: readonly UnitProperty[]): Promise<void> => {
    await call({ method: "SetUnitProperties", unit }, "sba(sv)", [unit, RUNTIME, properties.map(onWire)]);
  };

  return {
    async start(unit, atStart, settable) {
      try {
        await runJob({ method: "StartTransientUnit", unit }, "ssa(sv)a(sa(sv))", [
          unit,
          MODE,
          [...atStart, ...settable].map(onWire),
          [],
        ]);
      } catch (error) {
        if (!isCalled(error, UNIT_EXISTS)) throw error;
        await set(unit, settable);
        await runJob({ method: "StartUnit", unit }, "ss", [unit, MODE]);
      }
    },
    set,
    async isLoaded(unit) {
      try {
        await call({ method: "GetUnit", unit }, "s", [unit]);
        return true;
      } catch (error) {
        if (isCalled(error, NO_SUCH_UNIT)) return false;
        throw error;
      }
    },
    async stop(unit) {
      try {
        await runJob({ method: "StopUnit", unit }, "ss", [unit, MODE]);
      } catch (error) {
        if (!isCalled(error, NO_SUCH_UNIT)) throw error;
      }
    },
    close() {
      link.close();
    },
  };
}

function isCalled(error: unknown, dbusName: string): boolean {
  return error instanceof SystemdCallError && error.dbusName === dbusName;
}

function onWire([name, type, value]: UnitProperty): DbusValue {
  return [name, [type, typeof value === "bigint" ? value.toString() : value]];
}
