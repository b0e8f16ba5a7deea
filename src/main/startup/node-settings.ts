// What a node runs with: the settings, and what the machine adds to them.
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import type { Settings } from "../command/settings.js";
import { readMachine } from "./machine.js";
import { defaultRouteInterface, nodeIPs } from "./node-identity.js";
import type { NodeSettings } from "./run-node.js";

export async function nodeSettingsOf(
  settings: Settings,
  name: string,
  containerLogsDir: string,
): Promise<NodeSettings> {
  const routes = await readFile("/proc/net/route", "utf8").catch(() => "");
  const machine = readMachine();
  return {
    ...settings,
    nodeName: name,
    nodeIPs: nodeIPs(settings.nodeIPs, networkInterfaces(), defaultRouteInterface(routes)),
    containerLogsDir,
    podPidsLimit: BigInt(settings.podPidsLimit),
    memoryBytes: BigInt(machine.memoryBytes),
    cpuCount: machine.cpus,
  };
}
