// IPv6 networks as numbers, and the kernel's lists of routes and addresses. Pure.

import { addressOf } from "../machine/address-ranges.js";

export interface Network6 {
  /** First address, 0 to 2^128 - 1. */
  first: bigint;
  /** Length of the prefix, 0 to 128. */
  length: number;
}

/** An address of an interface of this machine. */
export interface Address6 {
  /** The name of the interface. */
  name: string;
  network: Network6;
  /** Other machines may know it: neither link-local nor the loopback's. */
  isGlobal: boolean;
  /** It has a lifetime: a router or a DHCP server gave it. */
  isDynamic: boolean;
}

const BITS = 128;
const GLOBAL_SCOPE = 0;
const PERMANENT = 0x80;

/** "fd00::1/64" or an address alone; the host part is cut off. undefined: no IPv6 network. @internal */
export function readNetwork6(text: string): Network6 | undefined {
  const [address = "", prefix = String(BITS)] = text.trim().split("/", 2);
  const found = addressOf(address);
  if (found?.family !== 6 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > BITS) return undefined;
  return networkOf(found.value, Number(prefix));
}

export function network6Text({ first, length }: Network6): string {
  const groups = Array.from({ length: 8 }, (_, index) => ((first >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  return `${new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1)}/${length}`;
}

export function overlaps6(one: Network6, other: Network6): boolean {
  return one.first < other.first + size(other.length) && other.first < one.first + size(one.length);
}

/** The networks of /proc/net/ipv6_route. */
export function readRoutes6(text: string): Network6[] {
  return text.split("\n").flatMap((line) => {
    const [, address = "", length = ""] = /^([0-9a-f]{32}) ([0-9a-f]{2}) /.exec(line) ?? [];
    return address === "" ? [] : [networkOf(BigInt(`0x${address}`), Number.parseInt(length, 16))];
  });
}

/** The addresses of /proc/net/if_inet6. */
export function readAddresses6(text: string): Address6[] {
  return text.split("\n").flatMap((line) => {
    const [address = "", , length = "", scope = "", flags = "", name = ""] = line.trim().split(/\s+/);
    if (!/^[0-9a-f]{32}$/.test(address) || name === "") return [];
    return [
      {
        name,
        network: networkOf(BigInt(`0x${address}`), Number.parseInt(length, 16)),
        isGlobal: Number.parseInt(scope, 16) === GLOBAL_SCOPE,
        isDynamic: (Number.parseInt(flags, 16) & PERMANENT) === 0,
      },
    ];
  });
}

function networkOf(address: bigint, length: number): Network6 {
  return { first: address - (address % size(length)), length };
}

function size(length: number): bigint {
  return 1n << BigInt(BITS - length);
}
