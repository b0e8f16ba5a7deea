// Gives a stand-alone node a pod network if it has none: what `nodelet doctor --fix` does.

import { messageOf } from "../../shared/base/errors/thrown.js";
import type { NodeMode } from "../machine/node-mode.js";
import { configurationsIn } from "../network/cni-files.js";
import { networkText, type Network } from "../network/ipv4.js";
import { readIpv6Facts } from "../network/ipv6-facts.js";
import { network6Text, type Network6 } from "../network/ipv6.js";
import { choosePodRange } from "../network/pod-range.js";
import { choosePodRange6, type Ipv6Wish } from "../network/pod-range6.js";
import { takenNetworks } from "../network/taken-networks.js";
import { writeNetwork } from "../network/write-network.js";
import { DEFAULT_CONF_DIR, type RuntimeSettings } from "../runtime/runtime-settings.js";

export interface Fixed {
  /** "fixed": a file was written; "fine": there was nothing to do; "failed": the node still has no network. */
  result: "fixed" | "fine" | "failed";
  said: string;
}

export interface FixInput {
  mode: NodeMode;
  /** undefined: the runtime is not installed, or does not say. It will look in the usual folder. */
  settings: Pick<RuntimeSettings, "confDir" | "template"> | undefined;
  /** Docker's own network serves the pods. */
  dockerNetwork: boolean;
  /** IPv6 addresses for pods. */
  ipv6: Ipv6Wish;
  /** @internal For tests: the record of the file. */
  record?: string;
}

export async function fixNetwork({ mode, settings, dockerNetwork, ipv6, record }: FixInput): Promise<Fixed> {
  const folder = settings?.confDir ?? DEFAULT_CONF_DIR;
  if (dockerNetwork) return fine("Docker's own network serves the pods");
  if (mode === "cluster")
    return fine("the network plugin of the cluster serves the pods; it is installed after the join");
  if (settings?.template !== undefined) return fine(`the runtime makes its network from ${settings.template}`);
  try {
    const configured = await configurationsIn(folder);
    if (configured.length > 0) return fine(`${folder} has ${configured.join(", ")}; it is left as it is`);
    const { taken, own } = await takenNetworks();
    const range = own ?? choosePodRange(taken);
    if (range === undefined) {
      return { result: "failed", said: "every private range of addresses overlaps a route or an address of this node" };
    }
    const { range: range6, said } = choosePodRange6(ipv6, await readIpv6Facts());
    const path = await writeNetwork(folder, { range, range6 }, record);
    return path === undefined
      ? fine(`${folder} has a configuration by now`)
      : { result: "fixed", said: wrote(path, range, range6, said) };
  } catch (error) {
    return { result: "failed", said: `cannot write a pod network: ${messageOf(error)}` };
  }
}

function wrote(path: string, range: Network, range6: Network6 | undefined, said: string | undefined): string {
  const ranges = range6 === undefined ? networkText(range) : `${networkText(range)} and ${network6Text(range6)}`;
  const about = said === undefined ? "" : range6 === undefined ? `. They get no IPv6 addresses: ${said}` : `. ${said}`;
  return `wrote ${path}: pods get addresses of ${ranges} on a bridge, with published host ports${about}`;
}

function fine(said: string): Fixed {
  return { result: "fine", said };
}
