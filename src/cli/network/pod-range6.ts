// Whether the pods of a node without a network plugin get IPv6 addresses, and which. Pure.

import { createHash } from "node:crypto";
import { BRIDGE } from "./conflist.js";
import { overlaps6, type Address6, type Network6 } from "./ipv6.js";

/** auto: if the node has a global IPv6 address, and IPv6 of the node itself is not at risk. */
export type Ipv6Wish = "auto" | "on" | "off";

export interface Ipv6Facts {
  /** The kernel has IPv6, and it is not switched off. */
  isThere: boolean;
  addresses: readonly Address6[];
  routes: readonly Network6[];
  /** Interfaces that lose their routes when the kernel forwards. */
  fromRouter: readonly string[];
  /** The kernel forwards IPv6 already. */
  forwards: boolean;
  /** Why addresses of pods cannot be masqueraded; undefined: they can. */
  noMasquerade: string | undefined;
  /** A secret of the machine that stays; only a hash of it leaves this file. */
  machineId: string;
}

export interface Ipv6Choice {
  /** undefined: the network has IPv4 only. */
  range: Network6 | undefined;
  /** What the user should know: why there is no range, or what to do beside it. */
  said?: string;
}

const LENGTH = 64;
const SUBNETS = 2 ** 16;
/** Default routes, and the routes for all public addresses, say nothing about a private range. */
const EVERYTHING = 3;

export function choosePodRange6(wish: Ipv6Wish, facts: Ipv6Facts): Ipv6Choice {
  const { isThere, addresses, fromRouter, forwards, noMasquerade } = facts;
  const none = (said: string): Ipv6Choice => ({ range: undefined, said });
  if (wish === "off") return { range: undefined };
  if (!isThere) return wish === "on" ? none("this kernel has no IPv6, or it is switched off") : { range: undefined };
  const isReachable = addresses.some(({ name, isGlobal }) => isGlobal && name !== BRIDGE);
  if (wish === "auto" && !isReachable) return { range: undefined };
  if (noMasquerade !== undefined) return none(`IPv6 addresses of pods cannot be masqueraded (${noMasquerade})`);
  const own = addresses.find(({ name, isGlobal }) => isGlobal && name === BRIDGE)?.network;
  const range = own ?? uniqueLocalRange(facts);
  if (range === undefined) return none("a route of this node covers its private IPv6 addresses");
  if (forwards || fromRouter.length === 0) return { range };
  const [its, command] = [fromRouter.length === 1 ? "its" : "their", acceptCommand(fromRouter)];
  const loss = `${fromRouter.join(" and ")} would lose ${its} IPv6 routes, because a kernel that forwards ignores router advertisements`;
  return wish === "on"
    ? { range, said: `${loss}; \`${command}\` keeps them` }
    : none(
        `${loss}. To give them some: \`${command}\`, remove the new file, and \`nodelet doctor --fix --dual-stack\``,
      );
}

/** Keeps router advertisements in effect on a machine that forwards. */
export function acceptCommand(interfaces: readonly string[]): string {
  const file = "/etc/sysctl.d/90-nodelet-ipv6.conf";
  // A dot in the name of an interface (VLANs) is a slash here.
  const lines = interfaces.map((name) => `net.ipv6.conf.${name.replaceAll(".", "/")}.accept_ra=2`).join("\\n");
  return `printf '${lines}\\n' >${file} && sysctl -p ${file}`;
}

/** RFC 4193: a prefix that no other site has, by chance. The machine gets the same one again. */
function uniqueLocalRange({ machineId, addresses, routes }: Ipv6Facts): Network6 | undefined {
  const site = createHash("sha256").update(`nodelet pod network\n${machineId}`).digest().subarray(0, 5);
  const first = BigInt(`0xfd${site.toString("hex")}`) << 80n;
  const taken = [...routes, ...addresses.map(({ network }) => network)].filter(({ length }) => length > EVERYTHING);
  const near = taken.filter((one) => overlaps6(one, { first, length: 48 }));
  for (let subnet = 0; subnet < SUBNETS; subnet++) {
    const range = { first: first + (BigInt(subnet) << 64n), length: LENGTH };
    if (!near.some((one) => overlaps6(one, range))) return range;
  }
  return undefined;
}
