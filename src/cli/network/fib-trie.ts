// Reads /proc/net/fib_trie: every IPv4 route and address of this network namespace, in all routing tables. Pure.

import { readNetwork, type Network } from "./ipv4.js";

/** Networks of routes and addresses, each once. */
export function readFibTrie(text: string): Network[] {
  const found = new Map<string, Network>();
  let address: string | undefined;
  for (const line of text.split("\n")) {
    const [, leaf] = /^\s*\|-- ([\d.]+)$/.exec(line) ?? [];
    if (leaf !== undefined) {
      address = leaf;
      continue;
    }
    const [, length] = /^\s*\/(\d+) \S+ [A-Z]+/.exec(line) ?? [];
    if (length === undefined || address === undefined) continue;
    const name = `${address}/${length}`;
    const network = readNetwork(name);
    if (network !== undefined) found.set(name, network);
  }
  return [...found.values()];
}
