// One text for one address: the forms that statuses show and compare.

import { isIP, isIPv6 } from "net";

/** Canonical text of an address; undefined when it is none. */
export function formatIP(ip: string): string | undefined {
  if (isIP(ip) === 0) return undefined;
  // The URL parser yields the one short form of an IPv6 address (RFC 5952).
  return isIPv6(ip) ? new URL(`http://[${ip}]/`).hostname.slice(1, -1) : ip;
}
