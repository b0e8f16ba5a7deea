// The network of a client: limits for unauthorised clients count by it.
// Invariant: one IPv4 address is one network; an IPv6 client cannot gain a network by changing the lower 64 bits of its
// address.

import { isIPv6 } from "node:net";

/** @returns the IPv4 address, or the first 64 bits of the IPv6 address; "" for a client that disconnected */
export function networkOf(address: string | undefined): string {
  if (address === undefined) return "";
  if (!isIPv6(address) || address.toLowerCase().startsWith("::ffff:")) return address;
  const [head = "", tail] = address.split("%")[0]?.split("::") ?? [];
  const left = head.split(":").filter((part) => part !== "");
  if (tail === undefined) return left.slice(0, 4).join(":");
  const right = tail.split(":").filter((part) => part !== "");
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0");
  return [...left, ...zeros, ...right].slice(0, 4).join(":");
}
