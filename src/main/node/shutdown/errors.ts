// Errors of graceful node shutdown, one class per cause. Messages name the remedy.
import { quote } from "../../command/rules/check.js";
import { messageOf } from "../../../shared/errors/thrown.js";

/** DBUS_SYSTEM_BUS_ADDRESS names no socket that can be connected to. */
export class BusAddressError extends Error {
  override readonly name = "BusAddressError";
  constructor(address: string) {
    super(
      `the system bus at ${quote(address)} can't be connected to: an address like unix:path=/run/dbus/system_bus_socket is needed`,
    );
  }
}

/** The connection to the bus ended, or was never established: it is tried again. */
export class BusLostError extends Error {
  override readonly name = "BusLostError";
  constructor(what: string, cause?: unknown) {
    super(`the connection to the system bus closed during ${what}; reconnecting`, { cause });
  }
}

/** The called D-Bus service refused the call. */
export class BusCallError extends Error {
  override readonly name = "BusCallError";
  /** "org.freedesktop.DBus.Error.ServiceUnknown" */
  readonly dbusName: string;
  constructor(what: string, dbusName: string, message: string) {
    super(`${what} was refused: ${message} (${dbusName}); "systemctl status systemd-logind dbus" may show the reason`);
    this.dbusName = dbusName;
  }
}

/** No response in time. */
export class BusDeadlineError extends Error {
  override readonly name = "BusDeadlineError";
  constructor(what: string, deadlineMs: number) {
    super(`no response to ${what} within ${deadlineMs / 1000} s; trying again`);
  }
}

/** logind waits a shorter time than the configuration grants to pods. */
export class InhibitDelayTooShortError extends Error {
  override readonly name = "InhibitDelayTooShortError";
  constructor(needMs: number, delayMs: number, file: string, cause?: unknown) {
    const tried =
      cause === undefined ? `although ${file} grants more` : `and ${file} could not be written: ${messageOf(cause)}`;
    super(
      `logind holds back a shutdown for ${delayMs / 1000} s at most, pods are to get ${needMs / 1000} s, ${tried}; ` +
        `set InhibitDelayMaxSec=${Math.ceil(needMs / 1000)} in logind.conf, or shorter periods. Until then pods get no time when the node shuts down`,
      { cause },
    );
  }
}

/** The lock that holds back a shutdown could not be had. */
export class InhibitLockError extends Error {
  override readonly name = "InhibitLockError";
  constructor(why: string, cause?: unknown) {
    super(`systemd-inhibit did not acquire the shutdown inhibitor lock: ${why}; trying again`, { cause });
  }
}
