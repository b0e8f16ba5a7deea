import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { EventEmitter } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import type { NetworkInterfaceInfo } from "node:os";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { readMachine } from "../../../src/main/node/machine.js";
import { directoriesOf, makeCertDir, makeDirectories } from "../../../src/main/process/directories.js";
import { nodeName } from "../../../src/main/process/node-identity.js";
import { setOomScoreAdj } from "../../../src/main/process/unix/process-limits.js";
import { listenForStop, type SignalSource } from "../../../src/main/process/unix/signals.js";
import { OperatorError } from "../../../src/shared/base/errors/operator-error.js";
import { defaultRouteInterface, nodeIPs } from "../../../src/shared/io/net/host-addresses.js";

const scratch = await mkdtemp(join(tmpdir(), "nodelet-startup-"));
after(() => rm(scratch, { recursive: true }));

describe("node name", () => {
  const table: [string, string, string][] = [
    ["", "Node-1.Example", "node-1.example"],
    ["", " node ", "node"],
    ["other", "node", "other"],
    [" other ", "node", "other"],
    ["Upper.Example", "node", "upper.example"],
  ];
  for (const [override, host, expected] of table) {
    test(`${override}|${host}`, () => equal(nodeName(override, host), expected));
  }
  for (const bad of ["a_b", "-a", "a..b", "x".repeat(254)]) {
    test(`refused: ${bad.slice(0, 20)}`, () => throws(() => nodeName(bad, "node"), OperatorError));
  }
});

describe("node addresses", () => {
  const face = (address: string, internal = false): NetworkInterfaceInfo => ({
    address,
    internal,
    cidr: null,
    mac: "",
    netmask: "",
    ...(address.includes(":") ? { family: "IPv6" as const, scopeid: 0 } : { family: "IPv4" as const }),
  });
  const interfaces = {
    lo: [face("127.0.0.1", true), face("::1", true)],
    docker0: [face("172.17.0.1")],
    eth0: [face("fe80::1"), face("10.0.0.5"), face("fd00::5")],
  };
  const table: [string, string[], string | undefined, string[]][] = [
    ["configured", ["1.2.3.4"], "eth0", ["1.2.3.4"]],
    ["default route's interface first", [], "eth0", ["10.0.0.5"]],
    ["any interface without a route", [], undefined, ["172.17.0.1"]],
    ["both families when both are asked for", ["0.0.0.0", "fd00::9"], "eth0", ["10.0.0.5", "fd00::9"]],
    ["family only", ["::"], "eth0", ["fd00::5"]],
  ];
  for (const [name, configured, route, expected] of table) {
    test(name, () => deepEqual(nodeIPs(configured, interfaces, route), expected));
  }
  test("the addresses fall back to the other IP family", () =>
    deepEqual(nodeIPs([], { eth0: [face("fe80::1"), face("fd00::5")] }), ["fd00::5"]));
  test("loopback when there is nothing else", () => deepEqual(nodeIPs([], { lo: interfaces.lo }), ["127.0.0.1"]));

  test("default route with the lowest metric", () => {
    const head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
    const row = (name: string, to: string, metric: number, mask: string): string =>
      [name, to, "0101A8C0", "0003", "0", "0", metric, mask, "0", "0", "0"].join("\t") + "\n";
    const routes =
      head +
      row("wlan0", "00000000", 600, "00000000") +
      row("eth0", "00000000", 100, "00000000") +
      row("br0", "0000A8C0", 0, "00FFFFFF");
    equal(defaultRouteInterface(routes), "eth0");
    equal(defaultRouteInterface(head), undefined);
  });
});

describe("directories", () => {
  test("upstream's names and modes, twice over", async () => {
    const directories = directoriesOf(
      join(scratch, "root"),
      join(scratch, "logs/pods"),
      join(scratch, "logs/containers"),
    );
    await makeDirectories(directories);
    await makeDirectories(directories);
    const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
    equal(await mode(join(scratch, "root")), 0o750);
    for (const name of ["pods", "plugins", "plugins_registry", "pod-resources"]) {
      equal(await mode(join(scratch, "root", name)), 0o750, name);
    }
    equal(await mode(join(scratch, "root/checkpoints")), 0o700);
    equal(await mode(join(scratch, "logs/pods")), 0o750);
    equal(await mode(join(scratch, "logs/containers")), 0o755);
  });
  test("the root directory is closed to others though certificates are made in it first", async () => {
    const root = join(scratch, "first");
    await makeCertDir(join(root, "pki"), root);
    const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
    equal(await mode(root), 0o750);
    equal(await mode(join(root, "pki")), 0o755);
  });
  test("a file in the way names the path", async () => {
    const file = join(scratch, "file");
    await writeFile(file, "");
    await rejects(makeDirectories(directoriesOf(join(file, "x"), join(scratch, "p"))), (error) => {
      return error instanceof OperatorError && error.message.includes(file);
    });
  });
  test("a place where no file can be created is reported, not retried for ever", { timeout: 120_000 }, async () => {
    const directories = directoriesOf("/proc/none/root", join(scratch, "p"), join(scratch, "c"));
    await rejects(makeDirectories(directories), OperatorError);
  });
});

describe("signals", () => {
  class Source extends EventEmitter implements SignalSource {
    exits: number[] = [];
    exit(code: number): void {
      this.exits.push(code);
    }
  }
  const log = { info: () => undefined, warn: () => undefined };

  test("the first requests a stop, the second exits", async () => {
    const source = new Source();
    const stop = listenForStop(source, log);
    source.emit("SIGTERM", "SIGTERM");
    equal(await stop.requested, "SIGTERM");
    equal(stop.aborted.aborted, true);
    deepEqual(source.exits, []);
    source.emit("SIGINT", "SIGINT");
    deepEqual(source.exits, [1]);
  });
  test("disposed, it leaves no listener", () => {
    const source = new Source();
    listenForStop(source, log)[Symbol.dispose]();
    equal(source.listenerCount("SIGTERM") + source.listenerCount("SIGINT"), 0);
  });
});

describe("oom_score_adj", () => {
  test("the adjustment is written to the file", async () => {
    const path = join(scratch, "oom");
    equal(await setOomScoreAdj(-999, { warn: () => undefined }, path), true);
    equal(await readFile(path, "utf8"), "-999");
  });
  test("a refusal is one warning", async () => {
    let warnings = 0;
    const log = {
      warn: () => {
        warnings++;
      },
    };
    equal(await setOomScoreAdj(-999, log, join(scratch, "none/oom")), false);
    equal(warnings, 1);
  });
});

test("readMachine counts processors and bytes of memory", () => {
  const { cpus, memoryBytes } = readMachine();
  equal(cpus >= 1 && Number.isInteger(cpus), true);
  equal(memoryBytes > 1 << 20, true);
});
