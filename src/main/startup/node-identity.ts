// Who this node is: its name and its addresses, as upstream decides them stand-alone.
import { isIPv4 } from "node:net";
import type { NetworkInterfaceInfo } from "node:os";

const MAX_NAME = 253;
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The host name, or what was set, is no DNS subdomain. */
export class NodeNameError extends Error {
  override readonly name = "NodeNameError";
  readonly code = "NODE_NAME";
  constructor(nodeName: string, fromFlag: boolean) {
    const where = fromFlag ? "--hostname-override" : "the host name";
    super(
      `${where} ${JSON.stringify(nodeName)} cannot be a node name: use at most ${MAX_NAME} of a-z, 0-9, "-" and ".", ` +
        `beginning and ending with a letter or digit; set another with --hostname-override`,
    );
  }
}

export const isNodeNameError = (error: unknown): error is NodeNameError => error instanceof NodeNameError;

/** The host name in lower case without surrounding space; an override counts as it is, but for its space. */
export function nodeName(hostnameOverride: string, hostname: string): string {
  const override = hostnameOverride.trim();
  const name = override === "" ? hostname.trim().toLowerCase() : override;
  if (name.length > MAX_NAME || !NAME.test(name)) throw new NodeNameError(name, override !== "");
  return name;
}

type Interfaces = Readonly<Partial<Record<string, NetworkInterfaceInfo[]>>>;

/**
 * The node's addresses, one per family at most, first family first. Configured ones win; "0.0.0.0" and "::" mean "pick
 * one of this family". Preferred is the interface of the default route; loopback only when there is nothing else.
 */
export function nodeIPs(configured: readonly string[], interfaces: Interfaces, defaultInterface?: string): string[] {
  if (configured.length > 0) {
    return configured.map((ip) =>
      ip === "0.0.0.0" || ip === "::" ? (pick(interfaces, isIPv4(ip), defaultInterface) ?? ip) : ip,
    );
  }
  const found = [pick(interfaces, true, defaultInterface), pick(interfaces, false, defaultInterface)];
  const ips = found.filter((ip) => ip !== undefined);
  return ips.length > 0 ? ips : ["127.0.0.1"];
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
