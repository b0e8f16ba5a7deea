// Volumes of static pods as their containers see them, and what containers leave in their termination message.
// @promise Volumes: Gate ImageVolumeWithDigest: the status of a container's mounts shows the digest of an image
//   volume, if the runtime reports it for the mount.
// @with test/integration/runtime-gates.test.ts

import assert from "node:assert/strict";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Container, PodSpec } from "../../src/shared/kubernetes/api/pod.js";
import type { HostPathType, Volume } from "../../src/shared/kubernetes/api/volume.js";
import type { ContainerStatusResponse } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { call } from "../../tools/standalone/cri.js";
import { run } from "../../tools/standalone/exec.js";
import { RUNTIME_NAME, startNode, testImage, waitFor, type TestNode } from "../harness/node.js";
import { agentLog } from "../support/fault-node.js";
import { privilegedProblem } from "../support/privileged.js";
import {
  conditionsOf,
  IDLE,
  idOf,
  manifest,
  NODE_NAME,
  PATIENCE_MS,
  report,
  reporter,
  RuntimeView,
  shell,
  statusOf,
  values,
  waitForPod,
} from "../support/static-pods.js";

let node: TestNode;
let runtime: RuntimeView;
/** A folder of the node for hostPath volumes. */
let host: string;

before(async () => {
  node = await startNode({ config: { featureGates: { ImageVolumeWithDigest: true } } });
  runtime = new RuntimeView(node.endpoint);
  host = join(node.kubelet.dir, "host");
  await mkdir(host);
});
after(async () => {
  runtime.close();
  await node.stop();
});

describe("volumes", { concurrency: 6 }, () => {
  test("an emptyDir on disk and one in memory, shared between containers", async () => {
    const volumeMounts = [
      { name: "disk", mountPath: "/disk" },
      { name: "memory", mountPath: "/memory" },
      { name: "unlimited", mountPath: "/unlimited" },
    ];
    const volumes: Volume[] = [
      { name: "unlimited", emptyDir: { medium: "Memory" } },
      { name: "disk", emptyDir: {} },
      { name: "memory", emptyDir: { medium: "Memory", sizeLimit: "4Mi" } },
    ];
    const reader = [
      "until [ -e /memory/done ]; do sleep 0.1; done",
      "cat /disk/file",
      "grep ' /memory ' /proc/mounts",
      "grep ' /unlimited ' /proc/mounts",
      "grep MemTotal /proc/meminfo",
      "stat -c MODE=%a /disk",
      'dd if=/dev/zero of=/memory/big bs=1M count=8 2>/dev/null && echo "FULL=no" || echo "FULL=yes"',
    ].join("\n");
    const containers = [
      reporter("writer", "echo shared > /disk/file; touch /memory/done", { volumeMounts }),
      reporter("reader", reader, { volumeMounts }),
    ];
    await node.writeManifest("empty", manifest("empty", containers, { spec: { volumes } }));
    const lines = await report(node, "empty", "reader");
    assert.equal(lines[0], "shared");
    assert.match(lines[1] ?? "", /^tmpfs \/memory tmpfs \S*size=4096k/);
    // As large as the memory for pods: without what eviction keeps free.
    const sizeKiB = Number(/size=(\d+)k/.exec(lines[2] ?? "")?.[1]);
    assert.equal(Number(/\d+/.exec(lines[3] ?? "")?.[0]) - sizeKiB, 100 * 1024);
    const seen = values(lines.slice(4));
    assert.deepEqual([seen["MODE"], seen["FULL"]], ["777", "yes"]);
    const pod = await waitForPod(node, "empty", (view) => conditionsOf(view)["Ready"] === "True", "Ready");
    const onDisk = join(node.kubelet.rootDir, "pods", pod.metadata.uid, "volumes/kubernetes.io~empty-dir/disk/file");
    assert.equal(await readFile(onDisk, "utf8"), "shared\n");
    assert.deepEqual(
      statusOf(pod, "reader")?.volumeMounts?.map(({ name, mountPath }) => ({ name, mountPath })),
      volumeMounts,
    );
  });

  test("an emptyDir outlives its containers, not its pod", async () => {
    const volumeMounts = [{ name: "data", mountPath: "/data" }];
    const script = `echo run >> /data/runs; [ $(wc -l < /data/runs) -ge 2 ] && { ${IDLE}; }; exit 1`;
    const spec = { volumes: [{ name: "data", emptyDir: {} }] };
    await node.writeManifest("outlives", manifest("outlives", [shell("app", script, { volumeMounts })], { spec }));
    await waitForPod(
      node,
      "outlives",
      (view) => statusOf(view, "app")?.restartCount === 1 && statusOf(view, "app")?.state.running !== undefined,
      "running for the second time",
    );
  });

  test("hostPath of every type that can be made or is there", async () => {
    const socket = createServer().listen(join(host, "socket"));
    await mkdir(join(host, "directory"));
    await writeFile(join(host, "directory", "file"), "");
    await writeFile(join(host, "file"), "content\n");
    const types: [string, HostPathType | undefined][] = [
      ["made-directory", "DirectoryOrCreate"],
      ["made-file", "FileOrCreate"],
      ["directory", "Directory"],
      ["file", "File"],
      ["socket", "Socket"],
      ["plain", undefined],
    ];
    const volumes: Volume[] = types.map(([name, type]) => ({
      name,
      hostPath: { path: join(host, name), ...(type === undefined ? {} : { type }) },
    }));
    volumes.push({ name: "null", hostPath: { path: "/dev/null", type: "CharDevice" } });
    await mkdir(join(host, "plain"));
    const names = volumes.map(({ name }) => name);
    const volumeMounts = names.map((name) => ({ name, mountPath: `/m/${name}` }));
    const script = `cd /m; stat -c "%n=%F" ${names.join(" ")}; echo hello > made-file; cat file`;
    await node.writeManifest(
      "types",
      manifest("types", [reporter("app", script, { volumeMounts })], { spec: { volumes } }),
    );
    try {
      const lines = await report(node, "types", "app");
      assert.equal(lines.at(-1), "content");
      assert.deepEqual(values(lines), {
        "made-directory": "directory",
        "made-file": "regular empty file",
        directory: "directory",
        file: "regular file",
        socket: "socket",
        plain: "directory",
        null: "character special file",
      });
      assert.equal(await readFile(join(host, "made-file"), "utf8"), "hello\n");
      assert.equal((await stat(join(host, "made-directory"))).mode & 0o777, 0o755);
    } finally {
      socket.close();
    }
  });

  test("a hostPath of another type keeps the pod waiting until it is right", async () => {
    const path = join(host, "late");
    const volumes: Volume[] = [{ name: "late", hostPath: { path, type: "Directory" } }];
    const app = shell("app", IDLE, { volumeMounts: [{ name: "late", mountPath: "/late" }] });
    await node.writeManifest("late", manifest("late", [app], { spec: { volumes } }));
    const message = `hostPath type check failed: ${path} is not a directory`;
    await waitFor(async () => (await readFile(node.kubelet.log, "utf8")).includes(message), {
      what: "the reason in the kubelet's log",
      timeoutMs: PATIENCE_MS,
    });
    const pod = await waitForPod(node, "late", ({ status }) => status?.phase === "Pending", "Pending");
    assert.deepEqual(statusOf(pod, "app")?.state.waiting, { reason: "ContainerCreating" });
    assert.deepEqual(statusOf(pod, "app")?.volumeMounts, [{ name: "late", mountPath: "/late" }]);
    await mkdir(path);
    await waitForPod(node, "late", (view) => conditionsOf(view)["Ready"] === "True", "Ready");
  });

  test("subPath, subPathExpr and read-only mounts", async () => {
    await mkdir(join(host, "tree", "a"), { recursive: true });
    await writeFile(join(host, "tree", "a", "file"), "from a\n");
    const name = { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } };
    const volumeMounts = [
      { name: "tree", mountPath: "/a", subPath: "a", readOnly: true },
      { name: "tree", mountPath: "/single", subPath: "a/file" },
      { name: "tree", mountPath: "/mine", subPathExpr: "$(POD_NAME)/made" },
    ];
    const script = [
      "cat /a/file /single",
      'touch /a/new 2>/dev/null && echo "WRITABLE=yes" || echo "WRITABLE=no"',
      "echo mine > /mine/file",
    ].join("\n");
    const app = reporter("app", script, { volumeMounts, env: [name] });
    const spec = { volumes: [{ name: "tree", hostPath: { path: join(host, "tree") } }] };
    await node.writeManifest("sub", manifest("sub", [app], { spec }));
    assert.deepEqual(await report(node, "sub", "app"), ["from a", "from a", "WRITABLE=no"]);
    assert.equal(await readFile(join(host, "tree", `sub-${NODE_NAME}`, "made", "file"), "utf8"), "mine\n");
  });

  test("a subPath that leads out of the volume by a link is refused", async () => {
    const volumeMounts = [{ name: "data", mountPath: "/data" }];
    const spec = {
      volumes: [{ name: "data", emptyDir: {} }],
      initContainers: [shell("init", "ln -s /etc /data/link", { volumeMounts })],
    };
    const app = shell("app", IDLE, { volumeMounts: [{ name: "data", mountPath: "/x", subPath: "link" }] });
    await node.writeManifest("escape", manifest("escape", [app], { spec }));
    const pod = await waitForPod(
      node,
      "escape",
      (view) => statusOf(view, "app")?.state.waiting?.reason === "CreateContainerConfigError",
      "refused",
    );
    const message = statusOf(pod, "app")?.state.waiting?.message;
    assert.equal(message, 'failed to prepare subPath for volumeMount "data" of container "app"');
    assert.ok((await agentLog(node)).some(({ msg }) => /subPath "link": .*leads out of the volume/.test(msg)));
  });
});

describe("volumes and their mounts", { concurrency: 6 }, () => {
  test("fsGroup owns volumes on disk and in memory, and new files in them", async () => {
    const names = ["disk", "memory"];
    const volumeMounts = names.map((name) => ({ name, mountPath: `/${name}` }));
    const volumes: Volume[] = [
      { name: "disk", emptyDir: {} },
      { name: "memory", emptyDir: { medium: "Memory" } },
    ];
    const securityContext = { fsGroup: 4321, runAsUser: 1000, runAsGroup: 1000 };
    const script = names
      .map((name) => `touch /${name}/file; echo ${name}=$(stat -c %a:%g /${name}):$(stat -c %g /${name}/file)`)
      .join("\n");
    const app = reporter("app", script, { volumeMounts });
    await node.writeManifest("group", manifest("group", [app], { spec: { volumes, securityContext } }));
    assert.deepEqual(values(await report(node, "group", "app")), { disk: "2777:4321:4321", memory: "3777:4321:4321" });
  });

  test("mounts made in one container reach another according to mountPropagation", async (t) => {
    const problem = await privilegedProblem();
    if (problem !== undefined) {
      t.skip(problem);
      return;
    }
    const shared = join(host, "shared");
    await mkdir(shared);
    await run("mount", ["--bind", shared, shared]);
    await run("mount", ["--make-shared", shared]);
    const mounting = (mountPropagation: "None" | "HostToContainer" | "Bidirectional") => ({
      volumeMounts: [{ name: "shared", mountPath: "/m", mountPropagation }],
    });
    // The file is on the mount: a container sees it if the mount propagates. The flag beside it shows that it exists.
    const makes =
      "mkdir -p /m/in; until [ -e /m/b -a -e /m/n ]; do sleep 0.1; done; mount -t tmpfs x /m/in; touch /m/in/seen /m/made";
    const looks = (flag: string): string =>
      `touch /m/${flag}; until [ -e /m/made ]; do sleep 0.1; done; [ -e /m/in/seen ] && echo SEEN=yes || echo SEEN=no`;
    const containers = [
      shell("maker", `${makes}; ${IDLE}`, { ...mounting("Bidirectional"), securityContext: { privileged: true } }),
      reporter("below", looks("b"), mounting("HostToContainer")),
      reporter("alone", looks("n"), mounting("None")),
    ];
    const spec = { volumes: [{ name: "shared", hostPath: { path: shared } }] };
    await node.writeManifest("propagation", manifest("propagation", containers, { spec }));
    assert.deepEqual(values(await report(node, "propagation", "below")), { SEEN: "yes" });
    assert.deepEqual(values(await report(node, "propagation", "alone")), { SEEN: "no" });
    await stat(join(shared, "in", "seen"));
  });

  test("an emptyDir takes mounts of a container to the node: the root directory is a shared mount", async (t) => {
    const problem = await privilegedProblem();
    if (problem !== undefined) {
      t.skip(problem);
      return;
    }
    const app = shell("app", IDLE, {
      volumeMounts: [{ name: "shared", mountPath: "/m", mountPropagation: "Bidirectional" }],
      securityContext: { privileged: true },
    });
    const spec = { volumes: [{ name: "shared", emptyDir: {} }] };
    await node.writeManifest("bidirectional", manifest("bidirectional", [app], { spec }));
    await waitForPod(node, "bidirectional", (pod) => conditionsOf(pod)["Ready"] === "True", "Ready");
  });

  test("recursive read-only: as far as possible, or not at all where the runtime cannot", async (t) => {
    const mount = (recursiveReadOnly: "IfPossible" | "Enabled") => ({
      volumeMounts: [{ name: "data", mountPath: "/data", readOnly: true, recursiveReadOnly }],
    });
    const spec = { volumes: [{ name: "data", emptyDir: {} }] };
    const containers = [
      shell("possible", IDLE, mount("IfPossible")),
      shell("enabled", IDLE, mount("Enabled")),
      {
        ...shell("absent", IDLE, mount("IfPossible")),
        image: "registry.test/absent:1",
        imagePullPolicy: "Never" as const,
      },
    ];
    await node.writeManifest("recursive", manifest("recursive", containers, { spec }));
    const pod = await waitForPod(
      node,
      "recursive",
      (view) =>
        statusOf(view, "possible")?.state.running !== undefined &&
        settled(statusOf(view, "enabled")) &&
        settled(statusOf(view, "absent")),
      "one running, the others decided",
    );
    const [mode] = statusOf(pod, "possible")?.volumeMounts ?? [];
    assert.deepEqual(statusOf(pod, "absent")?.volumeMounts, [mode], "the same before the container exists");
    const enabled = statusOf(pod, "enabled")?.state;
    t.diagnostic(enabled?.waiting?.message ?? "this runtime makes mounts recursively read-only");
    // containerd 1.6 cannot; 2.0 and later can.
    if (mode?.recursiveReadOnly === "Enabled") assert.ok(enabled?.running);
    else assert.match(enabled?.waiting?.message ?? "", /requested recursive read-only mode, but it is not supported/);
  });

  test("an image as a volume, or in plain words why not", async (t) => {
    const volumeMounts = [{ name: "files", mountPath: "/files" }];
    const app = reporter("app", "ls /files/bin | grep -c .", { volumeMounts });
    const spec = { volumes: [{ name: "files", image: { reference: testImage() } }] };
    await node.writeManifest("image", manifest("image", [app], { spec }));
    const pod = await waitForPod(node, "image", (view) => settled(statusOf(view, "app")), "running or refused");
    const waiting = statusOf(pod, "app")?.state.waiting;
    t.diagnostic(waiting?.message ?? "this runtime mounts images");
    if (waiting === undefined) {
      assert.ok(Number((await report(node, "image", "app"))[0]) > 0);
      const [shown] = statusOf(pod, "app")?.volumeMounts ?? [];
      const reported = await digestInRuntime(idOf(statusOf(pod, "app")), "/files");
      t.diagnostic(reported === "" ? "this runtime reports no digest of the mount" : `digest ${reported}`);
      assert.equal(shown?.volumeStatus?.image.imageRef ?? "", reported);
    } else {
      assert.equal(waiting.reason, "CreateContainerError");
      const plain = {
        containerd: /cannot mount images, as \/files .* containerd 2\.1/,
        docker: /\/files: the Docker Engine has no image volumes/,
      };
      assert.match(waiting.message ?? "", plain[RUNTIME_NAME]);
    }
  });
});

/**
 * The digest of the image at that path, as the container's status in the runtime has it; "": the runtime reports none.
 */
async function digestInRuntime(containerId: string, containerPath: string): Promise<string> {
  const { status } = await call<ContainerStatusResponse>((done) =>
    runtime.cri.runtime.containerStatus({ containerId, verbose: false }, done),
  );
  const mount = status?.mounts.find((one) => one.containerPath === containerPath);
  assert.ok(mount, "the runtime knows the mount");
  return mount.image?.imageRef ?? "";
}

/** Running, or waiting with a reason in its status. */
function settled(status: ReturnType<typeof statusOf>): boolean {
  return status?.state.running !== undefined || status?.state.waiting?.message !== undefined;
}

describe("termination messages", { concurrency: 6 }, () => {
  async function message(
    name: string,
    script: string,
    fields: Partial<Container> = {},
    spec: Partial<PodSpec> = {},
  ): Promise<string | undefined> {
    const own = { restartPolicy: "Never" as const, ...spec };
    await node.writeManifest(name, manifest(name, [shell("app", script, fields)], { spec: own }));
    const pod = await waitForPod(
      node,
      name,
      ({ status }) => status?.phase === "Failed" || status?.phase === "Succeeded",
      "ended",
    );
    return statusOf(pod, "app")?.state.terminated?.message;
  }
  const fallback = { terminationMessagePolicy: "FallbackToLogsOnError" } as const;

  test("the message is read from the termination log", async () => {
    assert.equal(await message("said", "echo why > /dev/termination-log; exit 1"), "why\n");
  });
  test("the message is read from a file of another path, also after success", async () => {
    const fields = { terminationMessagePath: "/tmp/last" };
    assert.equal(await message("said-elsewhere", "printf done > /tmp/last", fields), "done");
  });
  test("a container that wrote nothing has no message", async () => {
    assert.equal(await message("silent", "echo only in the log; exit 1"), undefined);
  });
  test("the last 4096 bytes of a long file", async () => {
    const text = await message("long", "{ head -c 5000 /dev/zero | tr '\\0' x; printf end; } > /dev/termination-log");
    assert.equal(text, `${"x".repeat(4093)}end`);
  });
  test("the message is read from the log after an error with FallbackToLogsOnError", async () => {
    // The runtime reads the two streams side by side. So each line waits until the one before is in the log.
    const volumes = [{ name: "logs", hostPath: { path: node.kubelet.podLogs } }];
    const volumeMounts = [{ name: "logs", mountPath: "/logs" }];
    const logged = (line: string): string =>
      `until grep -qs ' F ${line}$' /logs/default_log-${NODE_NAME}_*/app/0.log; do sleep 0.05; done`;
    const script = `echo one; ${logged("one")}; echo two >&2; ${logged("two")}; echo three; exit 3`;
    assert.equal(await message("log", script, { ...fallback, volumeMounts }, { volumes }), "one\ntwo\nthree\n");
  });
  test("the file wins over the log", async () => {
    assert.equal(await message("both", "echo log; printf file > /dev/termination-log; exit 3", fallback), "file");
  });
  test("the log is no message after success", async () => {
    assert.equal(await message("fine", "echo log; exit 0", fallback), undefined);
  });
});
