// Addresses of servers and proxies.

import { isIP } from "node:net";

/** An address as a string of 32 or 128 characters 0 and 1; undefined: the text is none. */
export function addressBits(address: string): string | undefined {
  const kind = isIP(address);
  if (kind === 0) return undefined;
  if (kind === 4)
    return address
      .split(".")
      .map((part) => bits(Number(part), 8))
      .join("");
  // The URL parser has no dots in an address.
  const canonical = address.includes(".") ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
  const [head = "", tail] = canonical.split("::");
  const groups = (text: string): string[] => (text === "" ? [] : text.split(":"));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  return [...before, ...zeros, ...after].map((part) => bits(parseInt(part, 16), 16)).join("");
}

function bits(value: number, length: number): string {
  return value.toString(2).padStart(length, "0");
}

/** undefined: the text is no address. */
export function addressBytes(address: string): Buffer | undefined {
  const octets = addressBits(address)?.match(/.{8}/g);
  return octets == null ? undefined : Buffer.from(octets.map((octet) => parseInt(octet, 2)));
}

/** Without the brackets of an IPv6 address. */
export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

const PORTS: Readonly<Record<string, number>> = { "https:": 443, "socks5:": 1080, "socks5h:": 1080 };

export function portOf(url: URL): number {
  return url.port !== "" ? Number(url.port) : (PORTS[url.protocol] ?? 80);
}
