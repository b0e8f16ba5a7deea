// The CNI network that this node gets if it has none: a bridge with masquerading, and published host ports. Pure.
import { networkText, type Network } from "./ipv4.js";

/** Sorts after the files of most network plugins: the runtime takes the first. */
export const CONFLIST = "10-nodelet.conflist";
/** Not cni0, which flannel takes for itself. */
export const BRIDGE = "nodelet0";
const NAME = "nodelet";
/** Programs that the network needs. Runtimes add the loopback interface by themselves, with the program loopback. */
export const PROGRAMS = ["bridge", "host-local", "loopback", "portmap"] as const;

export function conflistText(range: Network): string {
  const bridge = {
    type: "bridge",
    bridge: BRIDGE,
    isGateway: true,
    ipMasq: true,
    hairpinMode: true,
    ipam: { type: "host-local", ranges: [[{ subnet: networkText(range) }]], routes: [{ dst: "0.0.0.0/0" }] },
  };
  const portmap = { type: "portmap", capabilities: { portMappings: true } };
  // CNI 0.4.0 is known to the programs of every Debian since 11, and to those of today.
  return `${JSON.stringify({ cniVersion: "0.4.0", name: NAME, plugins: [bridge, portmap] }, undefined, 2)}\n`;
}
