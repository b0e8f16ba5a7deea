// Which of the machine's addresses are the node's. Pure: interfaces and routes are handed in.

import { isIPv4 } from "node:net";
import type { NetworkInterfaceInfo } from "node:os";

export type Interfaces = Readonly<Partial<Record<string, NetworkInterfaceInfo[]>>>;

/**
 * The node's addresses. Configured ones win, of both families if they are; "0.0.0.0" and "::" mean "pick one of this
 * family"; with nothing configured it is one, of IPv4 before IPv6. Preferred is the interface of the default route;
 * loopback only when there is nothing else.
 */
export function nodeIPs(configured: readonly string[], interfaces: Interfaces, defaultInterface?: string): string[] {
  if (configured.length > 0) {
    return configured.map((ip) =>
      ip === "0.0.0.0" || ip === "::" ? (pick(interfaces, isIPv4(ip), defaultInterface) ?? ip) : ip,
    );
  }
  return [pick(interfaces, true, defaultInterface) ?? pick(interfaces, false, defaultInterface) ?? "127.0.0.1"];
}

function pick(interfaces: Interfaces, v4: boolean, preferred: string | undefined): string | undefined {
  const names = Object.keys(interfaces).sort((a, b) => Number(b === preferred) - Number(a === preferred));
  for (const name of names) {
    const usable = interfaces[name]?.find(
      (info) => !info.internal && isIPv4(info.address) === v4 && !isLinkLocal(info.address),
    );
    if (usable !== undefined) return usable.address;
  }
  return undefined;
}

function isLinkLocal(address: string): boolean {
  return address.startsWith("169.254.") || /^fe[89ab]/i.test(address);
}

/** Name of the interface of the default IPv4 route with the lowest metric, from the text of /proc/net/route. */
export function defaultRouteInterface(routes: string): string | undefined {
  const defaults = routes
    .split("\n")
    .slice(1)
    .map((line) => line.split("\t"))
    .filter(([, destination, , , , , , mask]) => destination === "00000000" && mask === "00000000");
  defaults.sort((a, b) => Number(a[6]) - Number(b[6]));
  return defaults[0]?.[0];
}
