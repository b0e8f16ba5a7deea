// Chooses the addresses of pods for a node without a network plugin: 254 addresses that overlap nothing that the node
// reaches. Pure.

import { overlaps, readNetwork, type Network } from "./ipv4.js";

/**
 * Default routes, and the halves that VPNs set in their place, are about everything: they say nothing about a private
 * range.
 */
const EVERYTHING = 1;

/**
 * Private blocks (RFC 1918, then RFC 6598 and RFC 2544) in which no common program has its default: 10.96.0.0/12 is the
 * usual range of services, 10.244.0.0/16 flannel's, 10.42.0.0/15 k3s's, 10.85.0.0/16 CRI-O's, 10.88.0.0/15 podman's,
 * 172.17.0.0/12 Docker's.
 */
const BLOCKS: readonly Network[] = [
  "10.86.0.0/16",
  "10.87.0.0/16",
  "172.31.0.0/16",
  "192.168.0.0/16",
  "100.127.0.0/16",
  "198.19.0.0/16",
]
  .map(readNetwork)
  .filter((one) => one !== undefined);
const LENGTH = 24;

/** The first free range; undefined: none is free. @param taken routes, addresses, name servers */
export function choosePodRange(taken: readonly Network[]): Network | undefined {
  const relevant = taken.filter(({ length }) => length > EVERYTHING);
  for (const block of BLOCKS) {
    const near = relevant.filter((one) => overlaps(one, block));
    for (let index = 0; index < 2 ** (LENGTH - block.length); index++) {
      const range = { first: block.first + index * 2 ** (32 - LENGTH), length: LENGTH };
      if (!near.some((one) => overlaps(one, range))) return range;
    }
  }
  return undefined;
}
