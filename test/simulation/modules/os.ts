// node:os of the simulated machine.

import { kernel } from "../kernel/kernel.js";
import { machine } from "../world/machine.js";

export { constants, endianness, EOL, platform, arch } from "node:os";

const GIB = 1024 ** 3;

export const tmpdir = (): string => "/tmp";
export const hostname = (): string => "simulated";
export const release = (): string => "6.12.0-simulated";
export const totalmem = (): number => 16 * GIB;
export const freemem = (): number => 12 * GIB;
export const uptime = (): number => kernel.monotonic / 1000 + 3600;
export const setPriority = (): void => undefined;
export const cpus = (): object[] =>
  Array.from({ length: machine.cpus }, () => ({
    model: "simulated",
    speed: 2000,
    times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 },
  }));
export const networkInterfaces = (): object => ({
  lo: [{ address: "127.0.0.1", netmask: "255.0.0.0", family: "IPv4", mac: "", internal: true, cidr: "127.0.0.1/8" }],
  eth0: [
    {
      address: "192.0.2.10",
      netmask: "255.255.255.0",
      family: "IPv4",
      mac: "",
      internal: false,
      cidr: "192.0.2.10/24",
    },
  ],
});
