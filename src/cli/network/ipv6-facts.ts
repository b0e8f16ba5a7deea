// Reads what the choice of IPv6 addresses for pods depends on.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { systemClock } from "../../shared/base/clock/clock.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import { readIfThere } from "../machine/read-if-there.js";
import { runTool } from "../machine/tool.js";
import { readAddresses6, readRoutes6, type Address6 } from "./ipv6.js";
import type { Ipv6Facts } from "./pod-range6.js";

const SYSCTL = "/proc/sys/net/ipv6/conf";
const MACHINE_IDS = ["/etc/machine-id", "/var/lib/dbus/machine-id"];
/** The program loads a module of the kernel. */
const TABLES_MS = 10_000;

export async function readIpv6Facts(): Promise<Ipv6Facts> {
  const [disabled, forwarding, routes, known, machineId] = await Promise.all([
    readIfThere(`${SYSCTL}/all/disable_ipv6`),
    readIfThere(`${SYSCTL}/all/forwarding`),
    readIfThere("/proc/net/ipv6_route"),
    readIfThere("/proc/net/if_inet6"),
    readMachineId(),
  ]);
  const isThere = disabled?.trim() === "0";
  const addresses = readAddresses6(known ?? "");
  return {
    isThere,
    addresses,
    machineId,
    routes: readRoutes6(routes ?? ""),
    fromRouter: await interfacesOfRouters(addresses),
    forwards: forwarding?.trim() === "1",
    noMasquerade: isThere ? await masqueradeProblem() : undefined,
  };
}

/**
 * Interfaces with an address that the kernel made from a router's advertisement, and that follow routers only while the
 * kernel does not forward.
 */
export async function interfacesOfRouters(addresses: readonly Address6[]): Promise<string[]> {
  const names = new Set(addresses.flatMap(({ name, isGlobal, isDynamic }) => (isGlobal && isDynamic ? [name] : [])));
  const found = await Promise.all(
    [...names].map(async (name) => ({ name, accepts: (await readIfThere(join(SYSCTL, name, "accept_ra")))?.trim() })),
  );
  return found.flatMap(({ name, accepts }) => (accepts === "1" ? [name] : [])).sort();
}

async function masqueradeProblem(): Promise<string | undefined> {
  try {
    const args = ["-w", "5", "-t", "nat", "-S", "POSTROUTING"];
    await runTool("ip6tables", args, { clock: systemClock, deadlineMs: TABLES_MS });
    return undefined;
  } catch (error) {
    return messageOf(error).split("\n", 1)[0];
  }
}

/** Without one, the range is another each time it is chosen; the written one stays. */
async function readMachineId(): Promise<string> {
  for (const path of MACHINE_IDS) {
    const id = (await readIfThere(path))?.trim();
    if (id !== undefined && /^[0-9a-f]{32}$/.test(id)) return id;
  }
  return randomBytes(16).toString("hex");
}
