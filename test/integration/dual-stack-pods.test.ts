// Pods on the network that `nodelet doctor --fix --dual-stack` writes, through containerd and the kubelet: the status
// and the variables have both addresses, the node's first family comes first, probes use it, and host ports are open on
// both.

import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { connect, isIPv6 } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fixNetwork } from "../../src/cli/doctor/fix-network.js";
import { runTool } from "../../src/cli/machine/tool.js";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import { cniConfDir } from "../../tools/standalone/containerd-config.js";
import { startNode, waitFor, type PodView, type TestNode } from "../harness/node.js";
import {
  conditionsOf,
  manifest,
  PATIENCE_MS,
  report,
  reporter,
  shell,
  statusOf,
  values,
  waitForPod,
  waitGone,
} from "../support/static-pods.js";

/** Addresses of the node, for documentation (RFC 5737, 3849). */
const [V4, V6] = ["192.0.2.1", "2001:db8:7::1"];
const LINK = "d6p0";
const ip = (...args: string[]): Promise<string> => runTool("ip", args, { clock: systemClock });

interface Conflist {
  name: string;
  plugins: { type: string; bridge?: string; ipam?: object }[];
}

before(async () => {
  await ip("link", "add", LINK, "type", "veth", "peer", "name", `${LINK}w`);
  await ip("link", "set", `${LINK}w`, "up");
  await ip("addr", "add", `${V6}/64`, "dev", LINK, "nodad");
  await ip("addr", "add", `${V4}/24`, "dev", LINK);
  await ip("link", "set", LINK, "up");
});
after(() => ip("link", "del", LINK));

describe("a pod of two families on a node whose first address is", () => {
  for (const [family, nodeIPs, hostPort] of [
    ["IPv4", [V4, V6], 18_091],
    ["IPv6", [V6, V4], 18_092],
  ] as const) {
    test(family, () => useDualStackPods(nodeIPs, hostPort));
  }
});

async function useDualStackPods(nodeIPs: readonly string[], hostPort: number): Promise<void> {
  const node = await startNode({ containerd: "own", flags: [`--node-ip=${nodeIPs.join(",")}`], start: false });
  try {
    await takeDoctorsNetwork(node);
    await node.kubelet.start();
    await node.kubelet.waitHealthy();
    await checkPods(node, nodeIPs, hostPort);
  } finally {
    await node.stop();
  }
}

/**
 * In place of the private containerd's own network: doctor's, with the bridge, name and leases of this containerd,
 * which removes them.
 */
async function takeDoctorsNetwork(node: TestNode): Promise<void> {
  const { dir } = node.containerd!;
  const folder = cniConfDir(dir);
  const file = join(folder, "10-nodelet.conflist");
  const own = JSON.parse(await readFile(file, "utf8")) as Conflist;
  await rm(file);
  const settings = { runtime: "containerd", confDir: folder, binDirs: [] } as const;
  const input = { mode: "standalone", settings, dockerNetwork: false, ipv6: "on", record: join(dir, "sum") } as const;
  const { result, said } = await fixNetwork(input);
  assert.equal(result, "fixed", said);
  const written = JSON.parse(await readFile(file, "utf8")) as Conflist;
  const [bridge, ...others] = written.plugins;
  const changed = {
    ...bridge,
    bridge: own.plugins[0]?.bridge,
    ipam: { ...bridge?.ipam, dataDir: join(dir, "leases") },
  };
  await writeFile(file, JSON.stringify({ ...written, name: own.name, plugins: [changed, ...others] }));
}

async function checkPods(node: TestNode, nodeIPs: readonly string[], hostPort: number): Promise<void> {
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const env = [
    ...[field("POD_IP", "status.podIP"), field("POD_IPS", "status.podIPs")],
    ...[field("HOST_IP", "status.hostIP"), field("HOST_IPS", "status.hostIPs")],
  ];
  // It listens on the pod's first address alone: a probe of another address would fail.
  const first = shell(
    "first",
    'case $POD_IP in *:*) a="[$POD_IP]" ;; *) a=$POD_IP ;; esac; exec httpd -f -p $a:8080 -h /etc',
    {
      ...{ env, readinessProbe: { httpGet: { path: "/passwd", port: 8080 }, periodSeconds: 1 } },
      ...{ startupProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1, failureThreshold: 30 } },
    },
  );
  const published = shell("published", "exec httpd -f -p 8081 -h /etc", {
    ports: [{ containerPort: 8081, hostPort, protocol: "TCP" as const }],
  });
  await node.writeManifest(
    "dual",
    manifest("dual", [first, published, reporter("env", "env; cat /etc/hosts", { env })]),
  );
  const pod = await waitForPod(node, "dual", (view) => conditionsOf(view)["Ready"] === "True", "Ready");
  const { podIP, podIPs = [], hostIP, hostIPs } = statusFields(pod);
  const ips = podIPs.map(({ ip: address }) => address);
  const isV6First = isIPv6(nodeIPs[0] ?? "");
  assert.deepEqual(ips.map(isIPv6), [isV6First, !isV6First]);
  assert.equal(podIP, ips[0]);
  assert.deepEqual([hostIP, hostIPs], [nodeIPs[0], nodeIPs.map((address) => ({ ip: address }))]);
  assert.equal(statusOf(pod, "first")?.restartCount, 0, "the startup probe over TCP passed");

  const lines = await report(node, "dual", "env");
  const seen = values(lines);
  assert.deepEqual(
    ["POD_IP", "POD_IPS", "HOST_IP", "HOST_IPS"].map((name) => seen[name]),
    [ips[0], ips.join(","), nodeIPs[0], nodeIPs.join(",")],
  );
  for (const address of ips)
    assert.ok(
      lines.some((line) => line.startsWith(`${address}\t`)),
      `${address} in /etc/hosts`,
    );

  for (const [address, port] of [
    ...nodeIPs.map((one) => [one, hostPort] as const),
    ...ips.map((one) => [one, 8081] as const),
  ]) {
    await waitFor(() => answers(address, port), { what: `an answer of ${address}:${port}`, timeoutMs: PATIENCE_MS });
  }
  // With the pod go the rules of its host port.
  await node.removeManifest("dual");
  await waitGone(node, "dual");
  for (const address of nodeIPs)
    assert.equal(await answers(address, hostPort), false, `${address}:${hostPort} is closed`);
}

function statusFields(pod: PodView): NonNullable<PodView["status"]> {
  assert.ok(pod.status !== undefined);
  return pod.status;
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect({ host, port, timeout: 2_000 });
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    socket.on("error", () => resolve(false)).on("close", () => resolve(text.includes("root:")));
    socket.on("timeout", () => socket.destroy());
    socket.write("GET /passwd HTTP/1.0\r\n\r\n");
  });
}
