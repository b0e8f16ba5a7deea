// Errors of graceful node shutdown, one class per cause. Messages name the remedy.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { quote } from "../../../shared/base/text/quote.js";

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
export function busLostError(what: string, cause?: unknown): OperatorError {
  return new OperatorError(`the connection to the system bus closed during ${what}; reconnecting`, { cause });
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
export function inhibitLockError(why: string, cause?: unknown): OperatorError {
  return new OperatorError(`systemd-inhibit did not acquire the shutdown inhibitor lock: ${why}; trying again`, {
    cause,
  });
}
