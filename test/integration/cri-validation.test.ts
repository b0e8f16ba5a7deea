// What critest checks of a runtime (kubernetes-sigs/cri-tools, pkg/validate), against the CRI socket of a Docker
// Engine. Checks that a whole pod shows are in pod-security, pod-volumes, pod-environment and pod-exec.
// @promise Docker Engine: A log that the kubelet rotated continues without losing or repeating a line
//   (`NODELET_TEST_RUNTIME=docker`).
// @with test/integration/logs.test.ts

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test as anyTest, type TestFn, type TestOptions } from "node:test";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import { createCriClient, type CriClient } from "../../src/shared/kubernetes/cri/client.js";
import { CriDeadlineExceededError, CriUnimplementedError } from "../../src/shared/kubernetes/cri/errors.js";
import {
  ContainerEventType,
  ContainerState,
  MountPropagation,
  NamespaceMode,
  PodSandboxState,
  SupplementalGroupsPolicy,
} from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { testImage, waitFor } from "../harness/node.js";
import { PASSWORD, startRegistry, USER, type TestRegistry } from "../support/registry.js";

const isDocker = process.env["NODELET_TEST_RUNTIME"] === "docker";
/** A test of the Docker Engine only: other runtimes have critest itself. */
function test(name: string, ...rest: [TestFn] | [TestOptions, TestFn]): void {
  const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest;
  void (isDocker ? anyTest : anyTest.skip)(name, options, body);
}
const NOT_CONTAINERD = { skip: !isDocker && "of the Docker Engine" };
const UNKNOWN = "0".repeat(64);
const LABEL = "validation.test/run";
const POD = {
  network: NamespaceMode.POD,
  pid: NamespaceMode.CONTAINER,
  ipc: NamespaceMode.POD,
};

let cri: CriClient;
let dir: string;
const sandboxes: string[] = [];

before(async () => {
  dir = await mkdtemp(join(tmpdir(), "nodelet-validation-"));
  const endpoint = process.env["NODELET_CRI_ENDPOINT"] ?? "";
  cri = createCriClient({ endpoint, clock: systemClock, runtimeRequestTimeoutMs: 60_000 });
});
after(async () => {
  for (const podSandboxId of sandboxes) {
    await cri.stopPodSandbox({ podSandboxId });
    await cri.removePodSandbox({ podSandboxId });
  }
  cri.close();
  await rm(dir, { recursive: true });
});

interface Sandbox {
  podSandboxId: string;
  config: { metadata: object; logDirectory: string; labels: Record<string, string> };
}

async function sandbox(fields: Record<string, unknown> = {}): Promise<Sandbox> {
  const uid = randomUUID();
  const config = {
    metadata: { name: `validation-${uid.slice(0, 8)}`, namespace: "default", uid, attempt: 0 },
    logDirectory: join(dir, uid),
    labels: { [LABEL]: uid },
    annotations: { note: "kept" },
    linux: { securityContext: { namespaceOptions: POD } },
    ...fields,
  };
  const { podSandboxId } = await cri.runPodSandbox({ config });
  sandboxes.push(podSandboxId);
  return { podSandboxId, config };
}

let containers = 0;

async function create(pod: Sandbox, script: string, fields: Record<string, unknown> = {}): Promise<string> {
  const name = `c${containers++}`;
  const config = {
    metadata: { name, attempt: 0 },
    image: { image: testImage() },
    command: ["sh", "-c", script],
    logPath: `${name}.log`,
    labels: pod.config.labels,
    ...fields,
  };
  const request = { podSandboxId: pod.podSandboxId, sandboxConfig: pod.config, config };
  return (await cri.createContainer(request)).containerId;
}

const IDLE = "trap 'exit 0' TERM; while :; do sleep 0.1; done";

async function start(pod: Sandbox, script = IDLE, fields: Record<string, unknown> = {}): Promise<string> {
  const containerId = await create(pod, script, fields);
  await cri.startContainer({ containerId });
  return containerId;
}

/** Waits for the container's exit; returns its status and its log lines as "stdout F text". */
async function ended(pod: Sandbox, containerId: string) {
  let found: Awaited<ReturnType<CriClient["containerStatus"]>>["status"];
  await waitFor(
    async () => {
      found = (await cri.containerStatus({ containerId })).status;
      return found?.state === ContainerState.CONTAINER_EXITED;
    },
    { what: `the exit of container ${containerId}` },
  );
  assert.ok(found);
  const path = found.logPath.startsWith("/") ? found.logPath : join(pod.config.logDirectory, found.logPath);
  const lines = (await readFile(path, "utf8")).split("\n").map((line) => line.slice(line.indexOf(" ") + 1));
  return { status: found, exitCode: found.exitCode, log: lines.join("\n").trimEnd() };
}

async function output(pod: Sandbox, script: string, fields: Record<string, unknown> = {}): Promise<string> {
  return (await ended(pod, await start(pod, script, fields))).log;
}

async function exec(containerId: string, script: string): Promise<string> {
  const { exitCode, stdout, stderr } = await cri.execSync({ containerId, cmd: ["sh", "-c", script], timeout: 20n });
  assert.equal(exitCode, 0, String(stderr));
  return String(stdout).trimEnd();
}

const security = (securityContext: object) => ({
  linux: { securityContext: { namespaceOptions: POD, ...securityContext } },
});

test("sandboxes: run, stop, remove; stopping and removing are idempotent, also for one that never was", async () => {
  const { podSandboxId, config } = await sandbox();
  const { status } = await cri.podSandboxStatus({ podSandboxId });
  assert.ok(status && status.createdAt > 0n);
  assert.equal(status.state, PodSandboxState.SANDBOX_READY);
  assert.deepEqual(status.metadata, config.metadata);
  assert.deepEqual(status.labels, config.labels);
  assert.deepEqual(status.annotations, { note: "kept" });
  for (const id of [podSandboxId, podSandboxId]) await cri.stopPodSandbox({ podSandboxId: id });
  const stopped = await cri.podSandboxStatus({ podSandboxId });
  assert.equal(stopped.status?.state, PodSandboxState.SANDBOX_NOTREADY);
  for (const id of [podSandboxId, podSandboxId, UNKNOWN]) await cri.removePodSandbox({ podSandboxId: id });
  await assert.rejects(cri.podSandboxStatus({ podSandboxId }));
  if (isDocker) await cri.stopPodSandbox({ podSandboxId: UNKNOWN });
});

test("containers: create, start, stop; removed in each state; stopping and removing are idempotent", async () => {
  const pod = await sandbox();
  const created = await create(pod, IDLE, { annotations: { note: "mine" } });
  const status = async (containerId: string) => (await cri.containerStatus({ containerId })).status;
  assert.equal((await status(created))?.state, ContainerState.CONTAINER_CREATED);
  assert.deepEqual((await status(created))?.annotations, { note: "mine" });
  assert.deepEqual((await status(created))?.labels, pod.config.labels);
  const running = await start(pod);
  assert.equal((await status(running))?.state, ContainerState.CONTAINER_RUNNING);
  const stopped = await start(pod);
  await cri.stopContainer({ containerId: stopped, timeout: 10n });
  await cri.stopContainer({ containerId: stopped, timeout: 10n });
  assert.equal((await status(stopped))?.state, ContainerState.CONTAINER_EXITED);
  for (const containerId of [created, running, stopped, stopped, UNKNOWN]) await cri.removeContainer({ containerId });
  assert.deepEqual((await cri.listContainers({ filter: { podSandboxId: pod.podSandboxId } })).containers, []);
  if (isDocker) await cri.stopContainer({ containerId: UNKNOWN, timeout: 1n });
});

test("execSync: output and exit code; its timeout ends the command", async () => {
  const containerId = await start(await sandbox());
  const run = await cri.execSync({ containerId, cmd: ["sh", "-c", "echo out; echo err >&2; exit 4"], timeout: 20n });
  assert.deepEqual([run.exitCode, String(run.stdout), String(run.stderr)], [4, "out\n", "err\n"]);
  await assert.rejects(
    cri.execSync({ containerId, cmd: ["sh", "-c", "echo $$ > /tmp/pid; exec sleep 1000"], timeout: 1n }),
    CriDeadlineExceededError,
  );
  await waitFor(
    async () => (await exec(containerId, "kill -0 $(cat /tmp/pid) 2>/dev/null || echo ended")) === "ended",
    {
      what: "the end of the command",
    },
  );
});

test("statistics of containers: one, all, by label", async () => {
  const [one, other] = [await sandbox(), await sandbox()];
  const small = `echo hello > /small; ${IDLE}`;
  const ids = [await start(one, small), await start(one), await start(other)];
  await waitFor(async () => (await exec(ids[0] ?? "", "cat /small || true")) === "hello", { what: "the file" });
  const { stats } = await cri.containerStats({ containerId: ids[0] ?? "" });
  assert.ok((stats?.memory?.workingSetBytes?.value ?? 0n) > 0n);
  assert.ok((stats?.cpu?.usageCoreNanoSeconds?.value ?? 0n) > 0n);
  assert.ok(stats?.writableLayer?.usedBytes !== undefined && stats.writableLayer.fsId?.mountpoint.startsWith("/"));
  // A file takes whole blocks of the disk.
  assert.ok(stats.writableLayer.usedBytes.value >= 4096n);
  const all = (await cri.listContainerStats({})).stats.map(({ attributes }) => attributes?.id);
  for (const id of ids) assert.ok(all.includes(id));
  const filter = { labelSelector: one.config.labels };
  const some = (await cri.listContainerStats({ filter })).stats.map(({ attributes }) => attributes?.id);
  assert.deepEqual(some.sort(), ids.slice(0, 2).sort());
});

test(
  "statistics of pods: the pod's cgroup with its processes, the network of its sandbox, its containers",
  NOT_CONTAINERD,
  async () => {
    const cgroupParent = `${process.env["NODELET_CGROUP_ROOT"] ?? ""}/validation`;
    const pod = await sandbox({ linux: { cgroupParent, securityContext: { namespaceOptions: POD } } });
    const id = await start(
      pod,
      "dd if=/dev/zero of=/part bs=4096 count=256 2>/dev/null; mv /part /written; while :; do :; done",
    );
    await waitFor(
      async () =>
        exec(id, "test -s /written && echo yes").then(
          (text) => text === "yes",
          () => false,
        ),
      { what: "the file" },
    );
    const podSandboxId = pod.podSandboxId;
    const first = (await cri.podSandboxStats({ podSandboxId })).stats?.linux;
    assert.ok((first?.memory?.workingSetBytes?.value ?? 0n) > 0n);
    assert.ok((first?.process?.processCount?.value ?? 0n) >= 2n);
    assert.equal(first?.network?.defaultInterface?.name, "eth0");
    assert.deepEqual(
      first.containers.map(({ attributes }) => attributes?.id),
      [id],
    );
    assert.ok((first.containers[0]?.writableLayer?.usedBytes?.value ?? 0n) >= 1_048_576n);
    await waitFor(
      async () => {
        const { stats } = await cri.listPodSandboxStats({ filter: { id: podSandboxId } });
        return (stats[0]?.linux?.cpu?.usageNanoCores?.value ?? 0n) > 0n && stats.length === 1;
      },
      { what: "the use of CPU between two samples" },
    );
    await assert.rejects(cri.podSandboxStats({ podSandboxId: UNKNOWN }));
  },
);

test("metric descriptors and metrics of sandboxes are returned, or unimplemented", async () => {
  for (const ask of [cri.listMetricDescriptors({}), cri.listPodSandboxMetrics({})]) {
    await ask.catch((error: unknown) => {
      if (isDocker || !(error instanceof CriUnimplementedError)) throw error;
    });
  }
});

test("events: creation, start, exit and removal, with the state of the pod", NOT_CONTAINERD, async () => {
  const end = new AbortController();
  const seen: [string, ContainerEventType, number | undefined][] = [];
  let problem: unknown;
  const reading = (async () => {
    for await (const event of cri.getContainerEvents({}, { signal: end.signal })) {
      const mine = event.containersStatuses.find(({ id }) => id === event.containerId);
      seen.push([event.containerId, event.containerEventType, mine?.exitCode]);
    }
  })().catch((error: unknown) => (problem = error));
  // The first event that arrives shows that the stream is there.
  let probe = 0;
  await waitFor(
    async () => {
      if (probe++ % 10 === 0) await sandbox();
      return seen.length > 0;
    },
    { what: `the event stream: ${String(problem)}` },
  );
  const pod = await sandbox();
  const id = await start(pod, "exit 3");
  const has = (containerId: string, type: ContainerEventType, exitCode?: number) =>
    waitFor(
      () =>
        seen.some(
          (one) => one[0] === containerId && one[1] === type && (exitCode === undefined || one[2] === exitCode),
        ),
      {
        what: `${ContainerEventType[type]} of ${containerId}`,
        lastSeen: () => JSON.stringify(seen),
      },
    );
  await has(pod.podSandboxId, ContainerEventType.CONTAINER_STARTED_EVENT);
  await has(id, ContainerEventType.CONTAINER_STOPPED_EVENT, 3);
  await cri.removeContainer({ containerId: id });
  await has(id, ContainerEventType.CONTAINER_DELETED_EVENT);
  const order = seen.filter(([containerId]) => containerId === id).map(([, type]) => type);
  assert.deepEqual(order, [...order].sort());
  end.abort();
  await reading;
});

test("lists as streams have the same entries", NOT_CONTAINERD, async () => {
  const pod = await sandbox();
  await start(pod);
  const options = {
    endpoint: process.env["NODELET_CRI_ENDPOINT"] ?? "",
    clock: systemClock,
    runtimeRequestTimeoutMs: 60_000,
  };
  const streaming = createCriClient({ ...options, listStreaming: true });
  const ids = (all: readonly { id: string }[]) => all.map(({ id }) => id).sort();
  assert.deepEqual(ids((await streaming.listPodSandbox({})).items), ids((await cri.listPodSandbox({})).items));
  assert.deepEqual(
    ids((await streaming.listContainers({})).containers),
    ids((await cri.listContainers({})).containers),
  );
  assert.deepEqual(ids((await streaming.listImages({})).images), ids((await cri.listImages({})).images));
  streaming.close();
});

test("a volume by a link is the link's target", async () => {
  await writeFile(join(dir, "real"), "content");
  await symlink(join(dir, "real"), join(dir, "link"));
  const mounts = [{ hostPath: join(dir, "link"), containerPath: "/file" }];
  assert.equal(await output(await sandbox(), "cat /file", { mounts }), "stdout P content");
});

test("a log continues in a new file after ReopenContainerLog, without losing or repeating a line", async () => {
  const pod = await sandbox();
  const id = await start(pod, "trap 'exit 0' TERM; i=0; while :; do echo $i; i=$((i+1)); sleep 0.005; done");
  const { status } = await cri.containerStatus({ containerId: id });
  const found = status?.logPath ?? "";
  const path = found.startsWith("/") ? found : join(pod.config.logDirectory, found);
  const rotated = [1, 2, 3].map((second) => `${path}.20260102-03040${second}`);
  const read = (file: string) => readFile(file, "utf8");
  for (const [index, file] of rotated.entries()) {
    await waitFor(async () => (await read(path).catch(() => "")) !== "", { what: "lines" });
    if (index > 0) assert.notEqual(await read(path), "");
    await rename(path, file);
    await cri.reopenContainerLog({ containerId: id });
  }
  await cri.stopContainer({ containerId: id, timeout: 20n });
  assert.equal((await ended(pod, id)).exitCode, 0);
  const all = (await Promise.all([...rotated, path].map(read))).join("").trimEnd().split("\n");
  assert.deepEqual(
    all.map((line) => line.split(" ").at(-1)),
    all.map((_, index) => String(index)),
  );
  await assert.rejects(cri.reopenContainerLog({ containerId: id }), /not running|CONTAINER_EXITED/);
});

test("a container that uses more memory than its limit: exit code 137, reason OOMKilled", async () => {
  const pod = await sandbox();
  const resources = { memoryLimitInBytes: 20n << 20n };
  // Process 1 outlives its child. The runtime may see an end before it sees the lack of memory that caused it.
  const hog = "dd if=/dev/zero of=/dev/null bs=200M count=1; code=$?; sleep 1; exit $code";
  const { status } = await ended(pod, await start(pod, hog, { linux: { resources } }));
  assert.deepEqual([status.exitCode, status.reason], [137, "OOMKilled"]);
});

test(
  "mounts: read-only ones refuse writes; recursively read-only ones, images and id mappings are refused by name",
  NOT_CONTAINERD,
  async () => {
    const pod = await sandbox();
    const mount = { hostPath: dir, containerPath: "/mnt", readonly: true };
    assert.match(await output(pod, "touch /mnt/x", { mounts: [mount] }), /Read-only file system/);
    for (const [more, words] of [
      [{ recursiveReadOnly: true }, /recursive read-only mounts/],
      [{ recursiveReadOnly: true, readonly: false }, /recursive read-only mounts/],
      [{ recursiveReadOnly: true, propagation: MountPropagation.PROPAGATION_BIDIRECTIONAL }, /recursive read-only/],
      [{ image: { image: testImage() } }, /image volumes/],
      [{ uidMappings: [{ hostId: 1, containerId: 0, length: 1 }] }, /mounts with id mappings/],
    ] as const) {
      await assert.rejects(create(pod, "true", { mounts: [{ ...mount, ...more }] }), words);
    }
  },
);

test("containers of a pod share its network; logs and commands are each container's own", async () => {
  const pod = await sandbox();
  const server = await start(pod, "echo served > /index.html; exec httpd -f -p 8123 -h /");
  const client = await start(pod, `echo client; ${IDLE}`);
  await waitFor(async () => (await exec(client, "wget -qO- http://127.0.0.1:8123/index.html || true")) === "served", {
    what: "the server",
  });
  await exec(server, "touch /only-here");
  assert.equal(await exec(client, "ls /only-here 2>/dev/null || echo none"), "none");
});

test("DNS, host name, ports of the container and of the node", async () => {
  const dnsConfig = { servers: ["10.10.10.10"], searches: ["example.com"], options: ["ndots:7"] };
  const hostPort = 12_345;
  const portMappings = [{ containerPort: 80, hostPort }, { containerPort: 81 }];
  const pod = await sandbox({ hostname: "chosen", dnsConfig, portMappings });
  const id = await start(pod, "echo served > /index.html; exec httpd -f -p 80 -h /");
  assert.equal(
    await exec(id, "hostname; cat /etc/resolv.conf"),
    "chosen\nsearch example.com\nnameserver 10.10.10.10\noptions ndots:7",
  );
  const { status } = await cri.podSandboxStatus({ podSandboxId: pod.podSandboxId });
  const ip = status?.network?.ip ?? "";
  for (const address of [`${ip}:80`, `127.0.0.1:${hostPort}`]) {
    await waitFor(async () => (await (await fetch(`http://${address}/index.html`)).text()) === "served\n", {
      what: `an answer at ${address}`,
    });
  }
});

test("PID namespaces: the node's, the pod's, the container's", async () => {
  const options = (pid: NamespaceMode) => ({ ...POD, pid });
  for (const [mode, expected] of [
    [NamespaceMode.NODE, /\bdockerd\b|\bcontainerd\b/],
    [NamespaceMode.POD, /^((?!dockerd).)*pause((?!dockerd).)*$/s],
    [NamespaceMode.CONTAINER, /^((?!pause|dockerd).)*$/s],
  ] as const) {
    const pod = await sandbox({ linux: { securityContext: { namespaceOptions: options(mode) } } });
    const id = await start(pod, IDLE, security({ namespaceOptions: options(mode) }));
    assert.match(
      await exec(id, "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline 2>/dev/null; echo; done"),
      expected,
    );
  }
});

test("IPC and network: the node's or the pod's", async () => {
  const inode = async (mode: NamespaceMode, kind: "ipc" | "net") => {
    const namespaceOptions = { ...POD, ipc: mode, network: mode };
    const pod = await sandbox({ linux: { securityContext: { namespaceOptions } } });
    const [a, b] = [
      await start(pod, IDLE, security({ namespaceOptions })),
      await start(pod, IDLE, security({ namespaceOptions })),
    ];
    const [first, second] = [
      await exec(a, `readlink /proc/self/ns/${kind}`),
      await exec(b, `readlink /proc/self/ns/${kind}`),
    ];
    assert.equal(first, second);
    return first;
  };
  for (const kind of ["ipc", "net"] as const) {
    const { readlink } = await import("node:fs/promises");
    const own = await readlink(`/proc/self/ns/${kind}`);
    assert.equal(await inode(NamespaceMode.NODE, kind), own);
    assert.notEqual(await inode(NamespaceMode.POD, kind), own);
  }
});

test("users: a number, a name, a group, further groups; a group without a user is refused", async () => {
  const pod = await sandbox();
  const id = (context: object) => output(pod, "id -u; id -g; id -G", security(context));
  assert.equal(
    await id({ runAsUser: { value: 1001n }, runAsGroup: { value: 1002n } }),
    "stdout F 1001\nstdout F 1002\nstdout F 1002",
  );
  assert.match(await id({ runAsUsername: "nobody" }), /^stdout F 65534\n/);
  assert.match(await id({ runAsUser: { value: 1001n }, supplementalGroups: [1234n, 5678n] }), /1234 5678$/);
  const policy = SupplementalGroupsPolicy.Merge;
  assert.match(
    await id({ runAsUser: { value: 1001n }, supplementalGroups: [1234n], supplementalGroupsPolicy: policy }),
    /1234$/,
  );
  await assert.rejects(create(pod, "id", security({ runAsGroup: { value: 1002n } })), /runAsGroup|user/i);
});

test("capabilities: added, dropped, all of them dropped", async () => {
  const pod = await sandbox();
  const bridge = (context: object) =>
    output(pod, "brctl addbr b0 2>&1 && brctl delbr b0 && echo done", security(context));
  const effective = (context: object) => output(pod, "grep CapEff /proc/self/status", security(context));
  assert.match(await bridge({ capabilities: { addCapabilities: ["NET_ADMIN"] } }), /done$/);
  assert.match(
    await effective({ capabilities: { dropCapabilities: ["ALL"], addCapabilities: ["CHOWN"] } }),
    /0000000000000001$/,
  );
  assert.doesNotMatch(await bridge({}), /done$/);
  assert.match(await effective({ capabilities: { dropCapabilities: ["ALL"] } }), /0000000000000000$/);
  const chown = (context: object) => output(pod, "touch /tmp/x; chown 5 /tmp/x 2>&1 && echo done", security(context));
  assert.match(await chown({}), /done$/);
  assert.doesNotMatch(await chown({ capabilities: { dropCapabilities: ["CHOWN"] } }), /done$/);
});

test("masked and read-only paths", async () => {
  const pod = await sandbox();
  const masked = "cat /etc/passwd 2>/dev/null; touch /var/x 2>/dev/null || echo refused";
  const context = { maskedPaths: ["/etc/passwd"], readonlyPaths: ["/var"] };
  const log = await output(pod, masked, security(context));
  assert.doesNotMatch(log, /root:x/);
  assert.match(log, /refused$/);
});

test("user namespaces and strict groups are refused by name", NOT_CONTAINERD, async () => {
  for (const mode of [NamespaceMode.POD, NamespaceMode.CONTAINER, NamespaceMode.TARGET]) {
    const namespaceOptions = { ...POD, usernsOptions: { mode, uids: [], gids: [] } };
    await assert.rejects(sandbox({ linux: { securityContext: { namespaceOptions } } }), /userns_options/);
  }
  const node = { ...POD, usernsOptions: { mode: NamespaceMode.NODE } };
  await sandbox({ linux: { securityContext: { namespaceOptions: node } } });
  const supplementalGroupsPolicy = SupplementalGroupsPolicy.Strict;
  await assert.rejects(
    sandbox({ linux: { securityContext: { supplementalGroupsPolicy } } }),
    /supplemental_groups_policy/,
  );
});

test("images: pulled by tag, by default tag and by digest; found by each reference; removed with all their names", async () => {
  const registry = await startRegistry({ auth: false });
  try {
    const archive = process.env["NODELET_TEST_IMAGES"] ?? "";
    const push = (repository: string, tag: string) =>
      registry.push({ archive, source: testImage(), repository, tag, padding: 1000 });
    for (const name of ["one", "two", "three"]) await push(name, "1");
    await push("one", "latest");
    const pull = async (image: string) => (await cri.pullImage({ image: { image } })).imageRef;
    const status = async (image: string) => (await cri.imageStatus({ image: { image } })).image;
    const remove = (image: string) => cri.removeImage({ image: { image } });

    const before = (await cri.listImages({})).images.length;
    const three = ["one", "two", "three"].map((name) => `${registry.address}/${name}:1`);
    for (const image of three) await pull(image);
    assert.equal((await cri.listImages({})).images.length, before + 3);
    const found = await status(three[0] ?? "");
    assert.ok(found && found.size > 0n);
    assert.deepEqual(found.repoTags, [three[0]]);
    assert.deepEqual([found.uid, found.username], [undefined, ""], "the image names no user: root");
    assert.equal(found.repoDigests.length, 1);
    for (const reference of [found.id, found.repoDigests[0] ?? ""])
      assert.equal((await status(reference))?.id, found.id);
    assert.equal(await status(`${registry.address}/one`), undefined);
    await pull(`${registry.address}/one`);
    assert.deepEqual((await status(`${registry.address}/one:latest`))?.repoTags, [`${registry.address}/one:latest`]);
    await remove(`${registry.address}/one:latest`);

    await remove(three[0] ?? "");
    await pull(found.repoDigests[0] ?? "");
    assert.equal((await status(found.repoDigests[0] ?? ""))?.id, found.id);
    for (const image of [found.id, ...three, ...three]) await remove(image);
    assert.equal((await cri.listImages({})).images.length, before);

    // One image under three tags, and under another name of the registry.
    await retag(registry, "two", ["a", "b"]);
    const names = ["two:1", "two:a", "two:b"].map((name) => `${registry.address}/${name}`);
    names.push(`localhost:${registry.address.split(":")[1] ?? ""}/two:a`);
    for (const image of names) await pull(image);
    const same = await status(names[0] ?? "");
    assert.deepEqual(same?.repoTags.sort(), [...names].sort());
    await remove(names[1] ?? "");
    for (const reference of [...names, same.id]) assert.equal(await status(reference), undefined, reference);
    await pull(names[0] ?? "");
    await Promise.all([remove(same.id), remove(same.id)]);
    assert.equal(await status(same.id), undefined);

    const fs = await cri.imageFsInfo({});
    assert.ok((fs.imageFilesystems[0]?.usedBytes?.value ?? 0n) > 0n);
  } finally {
    await registry.stop();
  }
});

/** The image of the tag 1 under further tags. */
async function retag({ address }: TestRegistry, repository: string, tags: readonly string[]): Promise<void> {
  const accept = "application/vnd.oci.image.manifest.v1+json";
  const base = `http://${address}/v2/${repository}/manifests`;
  const manifest = await fetch(`${base}/1`, { headers: { accept } });
  const body = await manifest.text();
  const type = manifest.headers.get("content-type") ?? accept;
  for (const tag of tags) {
    const put = await fetch(`${base}/${tag}`, { method: "PUT", headers: { "content-type": type }, body });
    assert.equal(put.status, 201);
  }
}

test("a registry that wants a password refuses a pull without it and with a wrong one", async () => {
  const registry = await startRegistry({ auth: true });
  try {
    await registry.push({
      archive: process.env["NODELET_TEST_IMAGES"] ?? "",
      source: testImage(),
      repository: "p",
      tag: "1",
      padding: 7,
    });
    const image = { image: `${registry.address}/p:1` };
    const pull = (auth?: object) => cri.pullImage({ image, ...(auth && { auth }) });
    const words = /unauthorized|no basic auth|authorization/i;
    await assert.rejects(pull(), words);
    await assert.rejects(pull({ username: USER, password: "guessed" }), words);
    await pull({ username: USER, password: PASSWORD });
    await cri.removeImage({ image });
    const auth = Buffer.from(`${USER}:${PASSWORD}`).toString("base64");
    await pull({ auth });
    await cri.removeImage({ image });
  } finally {
    await registry.stop();
  }
});

test("a pull ends with its caller's deadline", async () => {
  const { createServer } = await import("node:net");
  const silent = createServer((socket) => void socket.unref());
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const address = silent.address();
  const port = typeof address === "object" ? address?.port : 0;
  silent.unref();
  const late = AbortSignal.timeout(1000);
  await assert.rejects(cri.pullImage({ image: { image: `127.0.0.1:${port}/silent:1` } }, { signal: late }));
  silent.close();
});
