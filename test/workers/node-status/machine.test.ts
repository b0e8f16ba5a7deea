// Facts about the machine, and its network with a resolver that hangs.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { HostNetworkWatch } from "../../../src/workers/node-status/host-network.js";
import { readMachine } from "../../../src/workers/node-status/machine.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { settle } from "../../support/sync-kit.js";
import { INIT, NETWORK } from "./node-status-kit.js";

async function machineOf(files: Record<string, string>) {
  const read = (path: string): Promise<string> => {
    const text = files[path];
    return text === undefined ? Promise.reject(new Error(`ENOENT ${path}`)) : Promise.resolve(text);
  };
  const { machineID, systemUUID, bootID, osImage, swapCapacity } = await readMachine(read);
  return { machineID, systemUUID, bootID, osImage, swapCapacity };
}

test("identities come from the first file that has one", async () => {
  deepEqual(
    await machineOf({
      "/var/lib/dbus/machine-id": "dbus\n",
      "/proc/device-tree/vm,uuid": "uuid\0",
      "/proc/sys/kernel/random/boot_id": "boot\n",
      "/etc/os-release": 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"\n',
      "/proc/meminfo": "MemTotal:  16 kB\nSwapTotal:       2048 kB\nSwapFree: 0 kB\n",
    }),
    {
      machineID: "dbus",
      systemUUID: "uuid",
      bootID: "boot",
      osImage: "Debian GNU/Linux 12 (bookworm)",
      swapCapacity: 2048 * 1024,
    },
  );
});

test("a machine whose files cannot be read", async () => {
  deepEqual(await machineOf({}), { machineID: "", systemUUID: "", bootID: "", osImage: "Unknown", swapCapacity: 0 });
});

test("this machine has a boot id and a kernel", async () => {
  const { bootID, kernelVersion } = await readMachine();
  equal(bootID.length, 36);
  equal(/^\d+\.\d+/.test(kernelVersion), true);
});

test("a resolver that hangs holds a look-up for two seconds; its response counts at the next", async () => {
  const clock = new SteppedClock();
  let answer: (found: string[]) => void = () => undefined;
  let asked = 0;
  const watch = new HostNetworkWatch(INIT, clock, {
    interfaces: () => NETWORK.interfaces,
    routes: () => Promise.resolve("Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"),
    resolve: () => {
      asked++;
      return new Promise((resolve) => (answer = resolve));
    },
  });
  let found: readonly string[] | undefined;
  const look = async (): Promise<void> => {
    found = (await watch.current()).resolved;
  };
  void look();
  await settle();
  equal(found, undefined);
  clock.step(2000);
  await settle();
  deepEqual(found, []);
  answer(["10.0.0.5"]);
  await settle();
  const next = look();
  await settle();
  equal(asked, 2);
  answer(["10.0.0.5"]);
  await next;
  deepEqual(found, ["10.0.0.5"]);
  await look();
  equal(asked, 2, "a look is good for a minute");
  equal(clock.pending, 0);
});
