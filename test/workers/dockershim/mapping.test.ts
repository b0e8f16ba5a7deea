// Rules between CRI's words and docker's.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  ContainerConfig,
  ContainerState,
  MountPropagation,
  NamespaceMode,
  PodSandboxConfig,
  Protocol,
} from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { criCgroupParent } from "../../../src/workers/dockershim/containers/cgroup-parent.js";
import { createOptions, userOf } from "../../../src/workers/dockershim/containers/create-config.js";
import { dockerMounts } from "../../../src/workers/dockershim/containers/mounts.js";
import { containerModes, sandboxModes } from "../../../src/workers/dockershim/containers/namespaces.js";
import { dockerResources } from "../../../src/workers/dockershim/containers/resources.js";
import { stateOf } from "../../../src/workers/dockershim/containers/status.js";
import { addressOf, commonVersion } from "../../../src/workers/dockershim/engine/engine.js";
import { engineSince, nanosOf } from "../../../src/workers/dockershim/engine/times.js";
import { splitReference } from "../../../src/workers/dockershim/images/reference.js";
import {
  containerMetadata,
  containerName,
  criLabels,
  dockerLabels,
  sandboxMetadata,
  sandboxName,
  TYPE_LABEL,
} from "../../../src/workers/dockershim/names.js";
import { dockerPorts } from "../../../src/workers/dockershim/sandboxes/create-config.js";
import { resolvConf } from "../../../src/workers/dockershim/sandboxes/run-sandbox.js";

const part = fc.stringMatching(/^[a-z0-9][a-z0-9.-]{0,20}$/);
const attempt = fc.integer({ min: 0, max: 999_999_999 });

test("a container's name is read back as it was written", () => {
  fc.assert(
    fc.property(part, part, part, part, attempt, attempt, (name, namespace, uid, container, podAttempt, run) => {
      const pod = { name, namespace, uid, attempt: podAttempt };
      assert.deepEqual(sandboxMetadata(`/${sandboxName(pod)}`), pod);
      assert.deepEqual(containerMetadata(`${containerName(pod, { name: container, attempt: run })}_1a2b3c4d`), {
        name: container,
        attempt: run,
      });
    }),
  );
});

test("a foreign name is refused", () => {
  for (const name of ["web", "k8s_POD_a_b_c", "k8s_POD_a_b_c_x", "other_POD_a_b_c_0", "k8s_POD_a_b_c_0_d_e"]) {
    assert.throws(() => sandboxMetadata(name), /named unlike a container of Kubernetes/);
  }
});

test("labels and annotations are read back, without the dockershim's own", () => {
  const labels = { app: "web", "io.kubernetes.pod.uid": "1" };
  const annotations = { note: "x" };
  const docker = dockerLabels(labels, annotations, { [TYPE_LABEL]: "container" });
  assert.deepEqual(docker, { ...labels, "annotation.note": "x", [TYPE_LABEL]: "container" });
  assert.deepEqual(criLabels(docker), { labels, annotations });
});

test("times of the Engine become nanoseconds and back", () => {
  assert.equal(nanosOf("0001-01-01T00:00:00Z"), 0n);
  assert.equal(nanosOf("no time"), 0n);
  assert.equal(nanosOf("2026-01-02T03:04:05.000000006Z"), 1_767_323_045_000_000_006n);
  assert.equal(nanosOf("2026-01-02T05:04:05.5+02:00"), 1_767_323_045_500_000_000n);
  assert.equal(engineSince(1_767_323_045_000_000_006n), "1767323045.000000006");
  assert.equal(engineSince(0n), "0.000000000");
});

test("the newest API version of both sides is used, from 1.41 on", () => {
  assert.deepEqual(commonVersion([1, 41], [1, 12]), [1, 41]);
  assert.deepEqual(commonVersion([1, 52], [1, 44]), [1, 47]);
  assert.equal(commonVersion([1, 40], [1, 12]), undefined);
  assert.equal(commonVersion([1, 60], [1, 50]), undefined);
});

test("the Engine's endpoint is a unix socket or a TCP address", () => {
  assert.deepEqual(addressOf("unix:///run/d.sock"), { socketPath: "/run/d.sock" });
  assert.deepEqual(addressOf("tcp://127.0.0.1:2375"), { host: "127.0.0.1", port: "2375", protocol: "http" });
  for (const endpoint of ["", "docker", "http://x:1", "tcp://x"]) assert.throws(() => addressOf(endpoint), /use unix:/);
});

test("an image reference is split as the Engine's pull takes it", () => {
  const rows: [string, string, string][] = [
    ["busybox", "busybox", "latest"],
    ["busybox:1", "busybox", "1"],
    ["localhost:5000/a/b", "localhost:5000/a/b", "latest"],
    ["localhost:5000/a/b:v2", "localhost:5000/a/b", "v2"],
    ["a/b:v2@sha256:00", "a/b", "sha256:00"],
    ["a/b@sha256:00", "a/b", "sha256:00"],
  ];
  for (const [reference, name, tag] of rows) assert.deepEqual(splitReference(reference), { name, tag });
});

test("a pod's containers join the namespaces of its sandbox", () => {
  const pod = {
    network: NamespaceMode.POD,
    pid: NamespaceMode.CONTAINER,
    ipc: NamespaceMode.POD,
    targetId: "",
    usernsOptions: undefined,
  };
  assert.deepEqual(sandboxModes(pod, "none"), { NetworkMode: "none", IpcMode: "shareable", PidMode: "", UTSMode: "" });
  assert.deepEqual(containerModes(pod, "s"), {
    NetworkMode: "container:s",
    IpcMode: "container:s",
    PidMode: "",
    UTSMode: "",
  });
  const host = { ...pod, network: NamespaceMode.NODE, pid: NamespaceMode.NODE, ipc: NamespaceMode.NODE };
  assert.deepEqual(sandboxModes(host, "none"), {
    NetworkMode: "host",
    IpcMode: "host",
    PidMode: "host",
    UTSMode: "host",
  });
  assert.equal(containerModes({ ...pod, pid: NamespaceMode.TARGET, targetId: "t" }, "s").PidMode, "container:t");
  assert.equal(containerModes({ ...pod, pid: NamespaceMode.POD }, "s").PidMode, "container:s");
});

test("a limit of memory without one of swap leaves no swap", () => {
  const none = {
    cpuPeriod: 0n,
    cpuQuota: 0n,
    cpuShares: 0n,
    memoryLimitInBytes: 0n,
    memorySwapLimitInBytes: 0n,
    oomScoreAdj: 0n,
    cpusetCpus: "",
    cpusetMems: "",
    hugepageLimits: [],
    unified: {},
  };
  assert.deepEqual(dockerResources(none), {});
  assert.deepEqual(dockerResources({ ...none, memoryLimitInBytes: 5n, cpuShares: 2n }), {
    CpuShares: 2,
    Memory: 5,
    MemorySwap: 5,
  });
  assert.deepEqual(dockerResources({ ...none, memoryLimitInBytes: 5n, memorySwapLimitInBytes: 9n }), {
    Memory: 5,
    MemorySwap: 9,
  });
});

const mount = {
  hostPath: "/h:1",
  containerPath: "/c",
  readonly: true,
  selinuxRelabel: false,
  propagation: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  uidMappings: [],
  gidMappings: [],
  recursiveReadOnly: false,
  image: undefined,
  imageSubPath: "",
  mountOptions: [],
};

test("a mount keeps its path with a colon and its propagation; relabelling uses docker's short form", () => {
  const expected = {
    Type: "bind",
    Source: "/h:1",
    Target: "/c",
    ReadOnly: true,
    BindOptions: { Propagation: "rslave" },
  };
  assert.deepEqual(dockerMounts([mount]), { Mounts: [expected], Binds: [] });
  assert.deepEqual(dockerMounts([{ ...mount, hostPath: "/h", selinuxRelabel: true }]).Binds, ["/h:/c:ro,Z,rslave"]);
  assert.throws(() => dockerMounts([{ ...mount, recursiveReadOnly: true }]), /no recursive read-only mounts/);
  assert.throws(() => dockerMounts([{ ...mount, mountOptions: ["nosuid"] }]), /no mount options \(nosuid\)/);
});

test("the user has the group only beside a user", () => {
  const id = (value: bigint) => ({ value });
  assert.equal(userOf(undefined), "");
  assert.equal(userOf({ runAsUser: id(0n), runAsUsername: "", runAsGroup: undefined }), "0");
  assert.equal(userOf({ runAsUser: id(5n), runAsUsername: "", runAsGroup: id(6n) }), "5:6");
  assert.equal(userOf({ runAsUser: undefined, runAsUsername: "web", runAsGroup: undefined }), "web");
  assert.throws(
    () => userOf({ runAsUser: undefined, runAsUsername: "", runAsGroup: id(6n) }),
    /runAsGroup needs runAsUser/,
  );
});

test("docker's systemd driver takes the name of the slice, its cgroupfs driver the path", () => {
  assert.equal(criCgroupParent("/kubepods.slice/kubepods-burstable.slice", "systemd"), "kubepods-burstable.slice");
  assert.equal(criCgroupParent("/kubepods/burstable/pod1", "cgroupfs"), "/kubepods/burstable/pod1");
  assert.equal(criCgroupParent("", "systemd"), "");
});

test("only ports with a host port are published", () => {
  const port = { protocol: Protocol.UDP, containerPort: 53, hostPort: 5353, hostIp: "127.0.0.1" };
  assert.deepEqual(dockerPorts([port, { ...port, hostPort: 0, containerPort: 80 }]), {
    exposed: { "53/udp": {} },
    bindings: { "53/udp": [{ HostIp: "127.0.0.1", HostPort: "5353" }] },
  });
});

test("resolv.conf has only the lines that the pod has values for", () => {
  assert.equal(resolvConf({ servers: [], searches: [], options: [] }), "");
  assert.equal(
    resolvConf({ servers: ["10.0.0.10", "10.0.0.11"], searches: ["a.b", "c"], options: ["ndots:5"] }),
    "search a.b c\nnameserver 10.0.0.10\nnameserver 10.0.0.11\noptions ndots:5\n",
  );
});

test("docker's states have CRI's meaning", () => {
  assert.equal(stateOf("created"), ContainerState.CONTAINER_CREATED);
  for (const state of ["running", "paused", "restarting"])
    assert.equal(stateOf(state), ContainerState.CONTAINER_RUNNING);
  for (const state of ["exited", "dead", "removing"]) assert.equal(stateOf(state), ContainerState.CONTAINER_EXITED);
  assert.equal(stateOf("new word"), ContainerState.CONTAINER_UNKNOWN);
});

test("a container without a command keeps the entry point of its image; one with a command replaces it", async () => {
  const entrypointFor = async (command: string[]): Promise<unknown> => {
    const config = ContainerConfig.create({ command, args: ["mounttest"], image: { image: "agnhost" } });
    const sandboxConfig = PodSandboxConfig.create();
    const input = {
      sandboxId: "s",
      config,
      sandboxConfig,
      cgroupDriver: "cgroupfs",
      lowestOomScoreAdj: -1000,
    } as const;
    return "Entrypoint" in (await createOptions(input)) ? (await createOptions(input)).Entrypoint : "of the image";
  };
  assert.equal(await entrypointFor([]), "of the image");
  assert.deepEqual(await entrypointFor(["sh", "-c"]), ["sh", "-c"]);
});
