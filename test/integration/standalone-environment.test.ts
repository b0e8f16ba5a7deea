// The private containerd: its images start, its pods have addresses and host ports, and it leaves nothing behind.

import assert from "node:assert/strict";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  ContainerState,
  CreateContainerRequest,
  PodSandboxConfig,
  Protocol,
  RunPodSandboxRequest,
} from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { cgroupFolders } from "../../tools/standalone/cgroups.js";
import { startContainerd, type PrivateContainerd } from "../../tools/standalone/containerd.js";
import { call, connectCri, hasImage, type CriConnection } from "../../tools/standalone/cri.js";
import { BUSYBOX_IMAGE, importImages, PAUSE_IMAGE } from "../../tools/standalone/images.js";
import { readRecord, removeInstance, removeInstancesBelow } from "../../tools/standalone/instance.js";
import { mountsBelow } from "../../tools/standalone/mounts.js";
import { isAlive, listProcesses } from "../../tools/standalone/processes.js";
import { waitFor } from "../../tools/standalone/wait.js";

const HOST_PORT = 18080;
const base = process.env["NODELET_TEST_DIR"] ?? "";
let containerd: PrivateContainerd;
let cri: CriConnection;

before(async () => {
  assert.notEqual(base, "", "run by npm test");
  containerd = await startContainerd({ dir: join(base, "env") });
  await importImages(containerd.socket, process.env["NODELET_TEST_IMAGES"] ?? "");
  cri = connectCri(containerd.endpoint);
});
after(async () => {
  cri.close();
  await containerd.stop();
});

/** A sandbox with one container that answers "ok" to every connection on port 8080. */
async function runPod(name: string): Promise<{ sandbox: string; container: string; ip: string }> {
  const config = PodSandboxConfig.fromPartial({
    metadata: { name, namespace: "default", uid: `uid-${name}`, attempt: 0 },
    hostname: name,
    logDirectory: join(base, `logs-${name}`),
    portMappings: [{ protocol: Protocol.TCP, containerPort: 8080, hostPort: HOST_PORT }],
    linux: { cgroupParent: `${containerd.cgroup}/${name}`, securityContext: { namespaceOptions: {} } },
  });
  const sandbox = await call<{ podSandboxId: string }>((done) =>
    cri.runtime.runPodSandbox(RunPodSandboxRequest.fromPartial({ config }), done),
  );
  const created = await call<{ containerId: string }>((done) =>
    cri.runtime.createContainer(
      CreateContainerRequest.fromPartial({
        podSandboxId: sandbox.podSandboxId,
        sandboxConfig: config,
        config: {
          metadata: { name: "web", attempt: 0 },
          image: { image: BUSYBOX_IMAGE },
          command: ["sh", "-c", "id -u; stat -c %a /tmp; exec nc -ll -p 8080 -e echo ok"],
          logPath: "web.log",
        },
      }),
      done,
    ),
  );
  await call((done) => cri.runtime.startContainer({ containerId: created.containerId }, done));
  const { status } = await call<{ status?: { network?: { ip: string } | undefined } | undefined }>((done) =>
    cri.runtime.podSandboxStatus({ podSandboxId: sandbox.podSandboxId, verbose: false }, done),
  );
  return { sandbox: sandbox.podSandboxId, container: created.containerId, ip: status?.network?.ip ?? "" };
}

/** Everything a TCP server sends until it closes. */
function ask(host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect({ host, port, timeout: 2_000 });
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    socket.on("error", reject).on("close", () => resolve(text));
    socket.on("timeout", () => socket.destroy(new Error("no answer in 2 s")));
  });
}

async function stateOf(container: string): Promise<ContainerState | undefined> {
  const { status } = await call<{ status?: { state: ContainerState } | undefined }>((done) =>
    cri.runtime.containerStatus({ containerId: container, verbose: false }, done),
  );
  return status?.state;
}

test("the runtime knows both images under their names", async () => {
  // The runtime's CRI part learns of imported images by events.
  for (const image of [PAUSE_IMAGE, BUSYBOX_IMAGE]) {
    await waitFor(() => hasImage(cri, image), { what: `${image} to be known` });
  }
  assert.equal(await hasImage(cri, "nodelet.local/absent:1"), false);
});

test("the namespace of the tests has no way out", async () => {
  await assert.rejects(ask("192.0.2.1", 80), /EHOSTUNREACH|ENETUNREACH/);
});

test("a pod runs with an address and a host port, survives kill -9 of containerd, and stop leaves nothing", async () => {
  const pod = await runPod("one");
  assert.match(pod.ip, /^10\./);
  await waitFor(async () => (await ask(pod.ip, 8080)) === "ok\n", { what: "a response on the pod's address" });
  const bridge = networkInterfaces()[containerd.bridge]?.find(({ family }) => family === "IPv4")?.address;
  assert.ok(bridge !== undefined, "the bridge has an address");
  await waitFor(async () => (await ask(bridge, HOST_PORT)) === "ok\n", { what: "a response on the host port" });
  const log = (): Promise<string> => readFile(join(base, "logs-one", "web.log"), "utf8");
  await waitFor(async () => /stdout F 0\n.*stdout F 1777\n/.test(await log()), { what: "its log", lastSeen: log });

  const firstPid = containerd.pid;
  await containerd.kill9();
  assert.equal(containerd.pid, undefined);
  await containerd.start();
  assert.notEqual(containerd.pid, firstPid);
  assert.equal(await stateOf(pod.container), ContainerState.CONTAINER_RUNNING, "the container ran on");

  const ours = (await listProcesses()).filter(({ args }) => args.includes(containerd.socket));
  assert.ok(ours.length >= 1, "there is a shim to be ended");
  assert.ok((await mountsBelow(containerd.dir)).length > 0, "there are mounts to be undone");
  assert.ok((await cgroupFolders(containerd.cgroup)).length > 0, "there are cgroups to be removed");
  const shimSockets = await readdir("/run/containerd/s");
  await containerd.stop();

  for (const shim of ours) assert.equal(await isAlive(shim), false, `shim ${shim.pid} ended`);
  assert.deepEqual(await mountsBelow(containerd.dir), []);
  assert.deepEqual(await cgroupFolders(containerd.cgroup), []);
  assert.equal(networkInterfaces()[containerd.bridge], undefined);
  // Runtimes of other runs have theirs there, too.
  const left = await readdir("/run/containerd/s");
  assert.ok(!shimSockets.every((socket) => left.includes(socket)), "the shim's socket is removed");
  const results = await readdir("/var/lib/cni/results");
  assert.deepEqual(
    results.filter((name) => name.includes(pod.sandbox)),
    [],
  );
  await assert.rejects(readdir(containerd.dir), { code: "ENOENT" });
  await rm(join(base, "logs-one"), { recursive: true });
});

test("a start over a killed instance's folder ends its leftover processes", async () => {
  const dir = join(base, "stale");
  const first = await startContainerd({ dir });
  const old = (await listProcesses()).find(({ pid }) => pid === first.pid);
  assert.ok(old !== undefined);
  const second = await startContainerd({ dir });
  try {
    assert.equal(await isAlive(old), false);
    assert.notEqual(second.pid, old.pid);
  } finally {
    await second.stop();
  }
});

test("a record is never applied to a network namespace other than its own", async () => {
  const instance = await startContainerd({ dir: join(base, "foreign") });
  const record = await readRecord(instance.dir);
  assert.ok(record !== undefined);
  // Taken for an instance of another namespace, it must leave this one's forwarding alone.
  await writeFile("/proc/sys/net/ipv4/ip_forward", "1");
  await removeInstance({ ...record, ownNetns: "net:[1]", ipForward: "0" });
  assert.equal((await readFile("/proc/sys/net/ipv4/ip_forward", "utf8")).trim(), "1");
  await removeInstance({ ...record, ipForward: "0" });
  assert.equal((await readFile("/proc/sys/net/ipv4/ip_forward", "utf8")).trim(), "0");
});

test("instances of a killed test are removed by looking below its folder", async () => {
  const parent = join(base, "killed-test");
  const instance = await startContainerd({ dir: join(parent, "c") });
  const old = (await listProcesses()).find(({ pid }) => pid === instance.pid);
  assert.ok(old !== undefined);
  await removeInstancesBelow(parent);
  assert.equal(await isAlive(old), false);
  assert.deepEqual(await readdir(parent), []);
  await rm(parent, { recursive: true });
});
