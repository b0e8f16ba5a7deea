// A volume that cannot be unmounted, and volumes of a kubelet that was killed in the middle of a mount. Other pods are
// not affected, the next kubelet continues the work, and at the end no mount is left.
// @headline Volumes | A kill during a mount leaves nothing. | any instruction
// @promise Volumes: A busy volume blocks only its own pod, also over a restart. After a kill at any instruction of a
//   mount the next process leaves nothing; mounts of kinds that the plugin does not make stay.
// @with test/main/volumes/reconcile.test.ts

import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { run } from "../../tools/standalone/exec.js";
import { mountsBelow } from "../../tools/standalone/mounts.js";
import { startNode, testImage, waitFor, type TestNode } from "../harness/node.js";
import { agentLog, PATIENCE_MS, podOf, runs, sleeper } from "../support/fault-node.js";

const EMPTY_DIR = "kubernetes.io~empty-dir";

describe("volumes that do not go", () => {
  let node: TestNode;
  let pods: string;
  let holder: ChildProcess | undefined;

  before(async () => {
    node = await startNode();
    pods = join(node.kubelet.rootDir, "pods");
  });
  after(async () => {
    holder?.kill("SIGKILL");
    await node.stop();
  });

  test("a process outside holds a pod's memory volume: only that pod waits, over a restart too", async () => {
    await node.writeManifest("held", withMemory("held"));
    await node.writeManifest("leaves", withMemory("leaves"));
    await node.writeManifest("stays", withMemory("stays"));
    const seen = await node.waitFor((view) => ["held", "leaves", "stays"].every((name) => runs(view, name)), {
      what: "the pods to run",
      timeoutMs: PATIENCE_MS,
    });
    const uid = podOf(seen, "held")?.metadata.uid ?? "";
    const volume = join(pods, uid, "volumes", EMPTY_DIR, "memory");
    holder = spawn("sleep", ["1000"], { cwd: volume, stdio: "ignore" });
    await once(holder, "spawn");

    await node.removeManifest("held");
    await inLog("the volume to be busy", `${volume} is still in use`);
    await node.removeManifest("leaves");
    await node.writeManifest("comes", withMemory("comes"));
    const others = await node.waitFor((view) => runs(view, "comes") && podOf(view, "leaves") === undefined, {
      what: "other pods to come and go",
      timeoutMs: PATIENCE_MS,
    });
    assert.ok(podOf(others, "held") !== undefined, "the pod is not removed while its volume exists");

    await node.kill9();
    const before = (await agentLog(node)).length;
    await node.restart();
    await inLog("the next agent to meet it", `${volume} is still in use`, before);
    assert.deepEqual(await mountsBelow(volume), [volume]);

    holder.kill("SIGKILL");
    await waitFor(async () => !(await readdir(pods)).includes(uid), {
      what: "the volume and the pod's directory to go",
      timeoutMs: PATIENCE_MS,
    });
    assert.deepEqual(await mountsBelow(join(pods, uid)), []);
    const left = podOf(seen, "leaves")?.metadata.uid ?? "";
    await waitFor(async () => !(await readdir(pods)).includes(left), {
      what: "the directory of the pod that left to go",
      timeoutMs: PATIENCE_MS,
    });
  });

  test("killed in the middle of a mount or an unmount: the next kubelet finds out which, and leaves nothing", async () => {
    await node.kill9();
    const kept = await readdir(pods);
    const states = ["noted", "mounted", "unmounted", "half-noted", "sub-path"];
    for (const [index, state] of states.entries()) {
      const pod = join(pods, String(index + 1).repeat(32));
      const [volume, meta] = [join(pod, "volumes", EMPTY_DIR, "memory"), join(pod, "plugins", EMPTY_DIR, "memory")];
      await mkdir(volume, { recursive: true });
      await mkdir(meta, { recursive: true });
      const note = JSON.stringify({ version: 1, kind: "tmpfs", target: volume, sizeBytes: "1048576" });
      await writeFile(join(meta, "mount.json"), state === "half-noted" ? note.slice(0, 20) : note);
      if (state === "unmounted" || state === "sub-path") await writeFile(join(meta, "ready"), "");
      if (state !== "noted" && state !== "unmounted") await run("mount", ["-t", "tmpfs", "tmpfs", volume]);
      if (state === "sub-path") {
        const part = join(pod, "volume-subpaths", "memory", "c0", "0");
        await mkdir(part, { recursive: true });
        await run("mount", ["--bind", volume, part]);
      }
    }
    await node.restart();
    await waitFor(async () => (await readdir(pods)).sort().join() === kept.sort().join(), {
      what: "the leftovers to go",
      timeoutMs: PATIENCE_MS,
      lastSeen: async () => [...(await readdir(pods)), ...(await mountsBelow(pods))].join("\n"),
    });
    const mounted = await mountsBelow(pods);
    assert.deepEqual(
      mounted.filter((place) => !kept.some((uid) => place.startsWith(join(pods, uid)))),
      [],
    );
    await node.waitFor((view) => ["stays", "comes"].every((name) => runs(view, name)), {
      what: "the pods of the node to run on",
      timeoutMs: PATIENCE_MS,
    });
    assert.equal(mounted.length, 2, "their volumes are still mounted");
  });

  async function inLog(what: string, text: string, from = 0): Promise<void> {
    await waitFor(async () => (await agentLog(node)).slice(from).some(({ msg }) => msg.includes(text)), {
      what,
      timeoutMs: PATIENCE_MS,
    });
  }
});

function withMemory(name: string): object {
  const pod = sleeper(name) as { spec: { containers: object[] } };
  const [container] = pod.spec.containers;
  return {
    ...pod,
    spec: {
      ...pod.spec,
      volumes: [{ name: "memory", emptyDir: { medium: "Memory" } }],
      containers: [{ ...container, image: testImage(), volumeMounts: [{ name: "memory", mountPath: "/memory" }] }],
    },
  };
}
