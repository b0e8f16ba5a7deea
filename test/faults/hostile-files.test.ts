// Files that containers shape to hurt the kubelet: what stands at a termination message path. The pod that made them
// gets an empty message, and other pods start, mount and report as ever.
// @promise Hostile tenants and clients: FIFOs, devices, sparse files and links at a termination message path block no
//   thread and reveal nothing of the node. This also holds in the next process.
// @with test/shared/io/fs/untrusted-file.test.ts

import assert from "node:assert/strict";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { startNode, testImage, type PodView, type TestNode } from "../harness/node.js";
import { agentLog, isError } from "../support/fault-node.js";
import { manifest, PATIENCE_MS, podOf, shell, statusOf, waitForPod, waitGone } from "../support/static-pods.js";

/** As many as libuv has threads for file calls, and more. */
const CONTAINERS = ["c0", "c1", "c2", "c3", "c4", "c5"];
const MESSAGE = "/dev/termination-log";

describe("hostile files", () => {
  let node: TestNode;

  before(async () => {
    node = await startNode();
  });
  after(() => node.stop());

  test("FIFOs as termination messages hold no thread, also of the next kubelet: another pod starts with its volumes", async () => {
    await node.writeManifest(
      "fifos",
      messages("fifos", (file) => `mkfifo ${file}`),
    );
    await ended("fifos");
    await starts("beside-fifos");

    await node.kill9();
    await node.restart();
    await ended("fifos");
    await starts("after-fifos");
    assert.deepEqual(messagesOf(await pod("fifos")), ["", "", "", "", "", ""]);
    await node.removeManifest("fifos");
    await waitGone(node, "fifos");
  });

  test("of devices, FIFOs, sparse and long files as termination messages only regular files are read, to the limit", async () => {
    const kinds = [
      (file: string) => `mknod ${file} c 1 5`,
      (file: string) => `mkfifo ${file}`,
      (file: string) => `truncate -s 1099511627776 ${file}`,
      (file: string) => `yes | head -c 100000 > ${file}`,
      (file: string) => `echo own > ${file}`,
      (file: string) => `: > ${file}`,
    ];
    await node.writeManifest(
      "kinds",
      messages("kinds", (file, index) => kinds[index]?.(file) ?? "false"),
    );
    const seen = await ended("kinds");
    // 12 KiB of the pod for its seven containers.
    const share = Math.floor(12288 / 7);
    const long = "y\n".repeat(2048).slice(0, share);
    assert.deepEqual(messagesOf(seen), ["", "", "\0".repeat(share), long, "own\n", ""]);
    await node.removeManifest("kinds");
    await waitGone(node, "kinds");
    assert.deepEqual((await agentLog(node)).filter(isError), []);
  });

  test("a message file of a hostPath volume that was replaced by a symbolic link is not followed", async () => {
    const host = await mkdtemp(join(node.kubelet.dir, "host-"));
    await writeFile(join(host, "message"), "");
    await writeFile(join(host, "secret"), "secret", { mode: 0o600 });
    const app = shell("app", "until [ -e /host/go ]; do sleep 0.05; done", {
      volumeMounts: [
        { name: "message", mountPath: MESSAGE },
        { name: "host", mountPath: "/host" },
      ],
    });
    const volumes = [
      { name: "message", hostPath: { path: join(host, "message"), type: "File" as const } },
      { name: "host", hostPath: { path: host } },
    ];
    await node.writeManifest("link", manifest("link", [app], { spec: { restartPolicy: "Never", volumes } }));
    await waitForPod(node, "link", (one) => statusOf(one, "app")?.state.running !== undefined, "running");
    await rm(join(host, "message"));
    await symlink(join(host, "secret"), join(host, "message"));
    await writeFile(join(host, "go"), "");
    const seen = await waitForPod(node, "link", (one) => statusOf(one, "app")?.state.terminated !== undefined, "ended");
    assert.equal(statusOf(seen, "app")?.state.terminated?.message, undefined);
    await node.removeManifest("link");
    await waitGone(node, "link");
  });

  async function pod(name: string): Promise<PodView> {
    const found = podOf(await node.pods(), name);
    assert.ok(found !== undefined, `pod ${name} is there`);
    return found;
  }

  async function ended(name: string): Promise<PodView> {
    return await waitForPod(
      node,
      name,
      (seen) => CONTAINERS.every((container) => statusOf(seen, container)?.state.terminated !== undefined),
      "all containers ended",
    );
  }

  /** A pod with a volume of its own starts, ends, and has its message read. */
  async function starts(name: string): Promise<void> {
    const app = shell("app", `echo there > /data/file && cat /data/file > ${MESSAGE}`, {
      volumeMounts: [{ name: "data", mountPath: "/data" }],
    });
    const spec = { restartPolicy: "Never" as const, volumes: [{ name: "data", emptyDir: {} }] };
    await node.writeManifest(name, manifest(name, [app], { spec }));
    const seen = await waitForPod(node, name, (one) => statusOf(one, "app")?.state.terminated !== undefined, "ended");
    assert.equal(statusOf(seen, "app")?.state.terminated?.message, "there\n");
    await node.removeManifest(name);
    await node.waitFor((pods) => podOf(pods, name) === undefined, {
      what: `${name} to be removed`,
      timeoutMs: PATIENCE_MS,
    });
  }
});

/** An init container makes a file for each container, which has it as its termination message and ends. */
function messages(name: string, make: (file: string, index: number) => string): object {
  const script = CONTAINERS.map((container, index) => make(`/made/${container}`, index)).join(" && ");
  return manifest(
    name,
    CONTAINERS.map((container) =>
      shell(container, "exit 0", { volumeMounts: [{ name: "made", mountPath: MESSAGE, subPath: container }] }),
    ),
    {
      spec: {
        restartPolicy: "Never",
        volumes: [{ name: "made", emptyDir: {} }],
        initContainers: [
          {
            name: "make",
            image: testImage(),
            command: ["sh", "-c", script],
            terminationMessagePolicy: "FallbackToLogsOnError",
            volumeMounts: [{ name: "made", mountPath: "/made" }],
          },
        ],
      },
    },
  );
}

function messagesOf(seen: PodView): string[] {
  return CONTAINERS.map((container) => statusOf(seen, container)?.state.terminated?.message ?? "");
}
