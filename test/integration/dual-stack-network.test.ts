// The network that `nodelet doctor --fix` writes on a node with a global IPv6 address, with the real CNI programs: in a
// network namespace of its own, a pod gets an address of each family and reaches the node over both.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { runTool } from "../../src/cli/machine/tool.js";
import { systemClock } from "../../src/shared/base/clock/clock.js";

const FIX = new URL("../../src/cli/doctor/fix-network.js", import.meta.url).href;
const FOLDERS = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];
const programs = FOLDERS.find((folder) => existsSync(join(folder, "bridge")));
const [NODE, POD] = [`nodelet-d6n-${process.pid}`, `nodelet-d6p-${process.pid}`];
const tool = (command: string, ...args: string[]): Promise<string> => runTool(command, args, { clock: systemClock });
const inNode = (...words: string[]): Promise<string> => tool("ip", "netns", "exec", NODE, ...words);

interface CniResult {
  ips: { address: string; gateway: string }[];
}

let dir: string;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), "nodelet-dual-"));
  for (const name of [NODE, POD]) await tool("ip", "netns", "add", name);
  await inNode("ip", "link", "set", "lo", "up");
  await inNode("ip", "link", "add", "eth0", "type", "veth", "peer", "name", "wire");
  await inNode("ip", "link", "set", "wire", "up");
  await inNode("ip", "addr", "add", "2001:db8:7::1/64", "dev", "eth0", "nodad");
  await inNode("ip", "addr", "add", "192.0.2.1/24", "dev", "eth0");
  await inNode("ip", "link", "set", "eth0", "up");
});
after(async () => {
  for (const name of [POD, NODE]) await tool("ip", "netns", "del", name).catch(() => undefined);
  await rm(dir, { recursive: true, force: true });
});

/** What doctor --fix says in the node's network namespace. */
async function fixed(folder: string, ipv6: string): Promise<{ result: string; said: string }> {
  const input = {
    mode: "standalone",
    settings: { confDir: folder },
    dockerNetwork: false,
    ipv6,
    record: `${folder}.sum`,
  };
  const script = `import(${JSON.stringify(FIX)}).then((m) => m.fixNetwork(${JSON.stringify(input)})).then((fixed) => console.log(JSON.stringify(fixed)))`;
  return JSON.parse(await inNode(process.execPath, "--input-type=module", "-e", script)) as {
    result: string;
    said: string;
  };
}

async function networkIn(folder: string): Promise<{ name: string; cniVersion: string; plugins: object[] }> {
  const text = await readFile(join(folder, "10-nodelet.conflist"), "utf8");
  return JSON.parse(text) as Awaited<ReturnType<typeof networkIn>>;
}

function cni(command: "ADD" | "DEL", config: object): Promise<string> {
  const env = {
    ...{ CNI_COMMAND: command, CNI_CONTAINERID: `pod-${process.pid}`, CNI_NETNS: `/var/run/netns/${POD}` },
    ...{ CNI_IFNAME: "eth0", CNI_PATH: programs ?? "", PATH: process.env["PATH"] ?? "" },
  };
  return new Promise((resolve, reject) => {
    const child = spawn("ip", ["netns", "exec", NODE, join(programs ?? "", "bridge")], { env });
    let printed = "";
    const keep = (part: Buffer): void => void (printed += part.toString());
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve(printed) : reject(new Error(printed))));
    child.stdin.end(JSON.stringify(config));
  });
}

test(
  "a node with a global IPv6 address gives pods addresses of both families, and they reach it",
  { skip: programs === undefined ? "no CNI programs on this machine" : false },
  async () => {
    const folder = join(dir, "net.d");
    const { result, said } = await fixed(folder, "auto");
    assert.equal(result, "fixed", said);
    assert.match(said, /pods get addresses of [\d.]+\/24 and fd[0-9a-f:]+\/64 on a bridge/);
    const { name, cniVersion, plugins } = await networkIn(folder);
    const [bridge] = plugins as [{ ipam: object }];
    const config = { name, cniVersion, ...bridge, ipam: { ...bridge.ipam, dataDir: join(dir, "leases") } };
    const { ips } = JSON.parse(await cni("ADD", config)) as CniResult;
    try {
      assert.equal(ips.length, 2);
      const [four, six] = ips;
      assert.match(six?.address ?? "", /^fd[0-9a-f:]+\/64$/);
      const addresses = await tool("ip", "netns", "exec", POD, "ip", "-o", "addr", "show", "dev", "eth0");
      for (const { address } of ips) assert.ok(addresses.includes(` ${address} `), addresses);
      // The node's own addresses lie outside the pods' ranges: the pod's default routes lead there.
      for (const [flag, target] of [
        ["-4", "192.0.2.1"],
        ["-6", "2001:db8:7::1"],
        ["-6", six?.gateway ?? ""],
        ["-4", four?.gateway ?? ""],
      ] as const) {
        const route = await tool("ip", "netns", "exec", POD, "ip", flag, "route", "get", target);
        assert.match(route, /dev eth0/);
      }
      assert.equal((await inNode("cat", "/proc/sys/net/ipv6/conf/all/forwarding")).trim(), "1");
      const rules = await inNode("ip6tables", "-t", "nat", "-S");
      assert.match(rules, /MASQUERADE/);
      await reaches(six?.gateway ?? "");
      await reaches("2001:db8:7::1");
    } finally {
      await cni("DEL", config);
    }
    // A second run leaves the network as it is, and the bridge's range is that of the next network.
    assert.equal((await fixed(folder, "on")).result, "fine");
    const again = join(dir, "again.d");
    assert.match((await fixed(again, "on")).said, new RegExp(` and ${bridgeRange(ips)} on a bridge`));
  },
);

test("without IPv6 on request, and on a node that has only link-local addresses, pods get IPv4 only", async () => {
  const off = join(dir, "off.d");
  assert.doesNotMatch((await fixed(off, "off")).said, /fd[0-9a-f]*:/);
  await inNode("ip", "addr", "del", "2001:db8:7::1/64", "dev", "eth0");
  const auto = join(dir, "auto.d");
  assert.doesNotMatch((await fixed(auto, "auto")).said, /fd[0-9a-f]*:/);
  assert.equal(JSON.stringify(await networkIn(auto)).includes("::/0"), false);
});

/** A connection over IPv6 from the pod's network namespace to a server in the node's. */
async function reaches(address: string): Promise<void> {
  const server = spawn("ip", [
    ...["netns", "exec", NODE, process.execPath, "-e"],
    `require("node:net").createServer((socket) => socket.end("hello")).listen(8086, "::", () => console.log("listens"))`,
  ]);
  try {
    await new Promise((resolve, reject) => {
      server.stdout.once("data", resolve);
      server.once("close", reject);
    });
    const client = `const socket = require("node:net").connect(8086, ${JSON.stringify(address)}); socket.pipe(process.stdout); socket.on("error", (error) => { console.error(error.message); process.exit(1); })`;
    assert.equal(await tool("ip", "netns", "exec", POD, process.execPath, "-e", client), "hello");
  } finally {
    server.kill("SIGKILL");
  }
}

/** The network of the pod's IPv6 address, as doctor writes it. */
function bridgeRange(ips: CniResult["ips"]): string {
  const [, six] = ips;
  return `${(six?.gateway ?? "").replace(/1$/, "")}/64`;
}
