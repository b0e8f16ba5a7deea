// What pods' addresses must not overlap: routes and addresses of this machine, and its name servers.

import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { BRIDGE } from "./conflist.js";
import { readFibTrie } from "./fib-trie.js";
import { readNetwork, type Network } from "./ipv4.js";

export interface TakenNetworks {
  taken: Network[];
  /**
   * The network of a bridge that is left from an earlier configuration of ours: the plugin refuses another one on it.
   */
  own: Network | undefined;
}

/** @throws if the routes cannot be read: without them no range is known to be free */
export async function takenNetworks(): Promise<TakenNetworks> {
  const routes = readFibTrie(await readFile("/proc/net/fib_trie", "utf8"));
  const interfaces = Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
    addresses.map(({ cidr }) => ({ name, network: readNetwork(cidr ?? "") })),
  );
  const resolv = await readFile("/etc/resolv.conf", "utf8").catch(() => "");
  const servers = resolv.split("\n").map((line) => {
    const [word, address = ""] = line.trim().split(/\s+/, 2);
    return word === "nameserver" ? readNetwork(address) : undefined;
  });
  const own = interfaces.find(({ name, network }) => name === BRIDGE && network !== undefined)?.network;
  const taken = [...routes, ...interfaces.map(({ network }) => network), ...servers];
  return { taken: taken.filter((one) => one !== undefined), own };
}
