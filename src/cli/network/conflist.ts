// The CNI network that this node gets if it has none: a bridge with masquerading, and published host ports. Pure.

import { networkText, type Network } from "./ipv4.js";
import { network6Text, type Network6 } from "./ipv6.js";

/** Sorts after the files of most network plugins: the runtime takes the first. */
export const CONFLIST = "10-nodelet.conflist";
/** Not cni0, which flannel takes for itself. */
export const BRIDGE = "nodelet0";
const NAME = "nodelet";
/** Programs that the network needs. Runtimes add the loopback interface by themselves, with the program loopback. */
export const PROGRAMS = ["bridge", "host-local", "loopback", "portmap"] as const;

export function conflistText(range: Network, range6?: Network6): string {
  const subnets = [networkText(range), ...(range6 === undefined ? [] : [network6Text(range6)])];
  const routes = [{ dst: "0.0.0.0/0" }, ...(range6 === undefined ? [] : [{ dst: "::/0" }])];
  const bridge = {
    type: "bridge",
    bridge: BRIDGE,
    isGateway: true,
    ipMasq: true,
    hairpinMode: true,
    ipam: { type: "host-local", ranges: subnets.map((subnet) => [{ subnet }]), routes },
  };
  const portmap = { type: "portmap", capabilities: { portMappings: true } };
  // CNI 0.4.0 is known to the programs of every Debian since 11, and to those of today.
  return `${JSON.stringify({ cniVersion: "0.4.0", name: NAME, plugins: [bridge, portmap] }, undefined, 2)}\n`;
}
