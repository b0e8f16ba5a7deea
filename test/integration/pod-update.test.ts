// Effect of manifest edits on a running pod: a new pod after the old one's termination, or a container changed in
// place. Also a file renamed or replaced, and an invalid edit.
// @promise Pods: An edit stops the old pod within its grace period and starts the new one after its removal. Under the
//   same UID only changed containers restart.

import assert from "node:assert/strict";
import { appendFile, mkdir, open, readFile, rename, utimes } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { run } from "../../tools/standalone/exec.js";
import { sleep } from "../../tools/standalone/wait.js";
import { testImage, waitFor, type PodView } from "../harness/node.js";
import { nodeForTests } from "../support/node-for-tests.js";
import {
  conditionsOf,
  IDLE,
  idOf,
  logLines,
  manifest,
  NODE_NAME,
  PATIENCE_MS,
  podOf,
  shell,
  statusOf,
  waitForPod,
} from "../support/static-pods.js";

const CATCHING = IDLE.replace(";", "; echo caught;");
const OTHER_IMAGE = "nodelet.local/busybox:other";
const { node, runtime } = await nodeForTests();
if (process.env["NODELET_TEST_RUNTIME"] === "docker") {
  // The Engine's socket lies beside the one of its CRI server.
  const engine = node.endpoint.replace(/dockershim\.sock$/, "docker.sock");
  await run("docker", ["--host", engine, "tag", testImage(), OTHER_IMAGE]);
} else {
  const socket = node.endpoint.replace(/^unix:\/\//, "");
  const tag = ["images", "tag", "--force", testImage(), OTHER_IMAGE];
  await run("ctr", ["--address", socket, "--namespace", "k8s.io", ...tag]);
}

const ready = (pod: PodView): boolean => conditionsOf(pod)["Ready"] === "True";
const path = (name: string): string => join(node.kubelet.manifests, `${name}.yaml`);

/** A pod that writes into a file of the host when it starts, when it gets SIGTERM, and when it exits. */
async function diarist(name: string, version: string) {
  const folder = join(node.kubelet.dir, `diary-${name}`);
  await mkdir(folder, { recursive: true });
  const write = (what: string): string => `echo ${version} ${what} >> /diary/lines`;
  const script = `trap '${write("told")}; sleep 1; ${write("ends")}; exit 0' TERM; ${write("starts")}; while true; do sleep 3600 & wait $!; done`;
  const volumeMounts = [{ name: "diary", mountPath: "/diary" }];
  const spec = { terminationGracePeriodSeconds: 600, volumes: [{ name: "diary", hostPath: { path: folder } }] };
  return manifest(name, [shell("app", script, { volumeMounts })], { spec });
}

async function diary(name: string, lines: number): Promise<string[]> {
  const file = join(node.kubelet.dir, `diary-${name}`, "lines");
  let read: string[] = [];
  await waitFor(
    async () => {
      read = (await readFile(file, "utf8")).trim().split("\n");
      return read.length >= lines;
    },
    { what: `${lines} lines in ${file}`, timeoutMs: PATIENCE_MS, lastSeen: () => read.join("; ") },
  );
  return read;
}

/** Number of error lines in the kubelet's log that name this manifest. */
async function complaints(name: string): Promise<number> {
  const log = await readFile(node.kubelet.log, "utf8");
  return log.split("\n").filter((line) => line.includes(path(name)) && /"severity":"error"/.test(line)).length;
}

describe("edits", { concurrency: 6 }, () => {
  test("an edited pod stops with its grace, and only then the new one starts", async () => {
    await node.writeManifest("edited", await diarist("edited", "v1"));
    const first = await waitForPod(node, "edited", ready, "Ready");
    await diary("edited", 1);
    await node.writeManifest("edited", await diarist("edited", "v2"));
    assert.deepEqual(await diary("edited", 4), ["v1 starts", "v1 told", "v1 ends", "v2 starts"]);
    const second = await waitForPod(
      node,
      "edited",
      (pod) => pod.metadata.uid !== first.metadata.uid && ready(pod),
      "Ready under a new UID",
    );
    assert.equal(statusOf(second, "app")?.restartCount, 0);
    await waitFor(async () => (await runtime.sandboxes(first.metadata.uid)).length === 0, {
      what: "the old pod's sandbox to be removed",
      timeoutMs: PATIENCE_MS,
    });
  });

  test("two quick edits: in the end the last version runs, once", async () => {
    for (const version of ["v1", "v2", "v3"]) {
      const { spec, ...rest } = await diarist("hasty", version);
      // Its shell is not process 1 of a namespace: a signal that comes before it is caught ends it, too.
      await node.writeManifest("hasty", { ...rest, spec: { ...spec, shareProcessNamespace: true } });
    }
    const last = await waitForPod(
      node,
      "hasty",
      (pod) => ready(pod) && pod.spec.containers[0]?.command?.join(" ").includes("echo v3 starts") === true,
      "Ready in its third version",
    );
    await waitFor(async () => (await diary("hasty", 1)).at(-1) === "v3 starts", {
      what: "the third version to start",
      timeoutMs: PATIENCE_MS,
    });
    const lines = await diary("hasty", 1);
    assert.equal(lines.filter((line) => line === "v3 starts").length, 1);
    // Each version that was started has ended before the next started.
    lines.forEach((line, index) => {
      if (index > 0 && line.endsWith("starts")) assert.match(lines[index - 1] ?? "", /ends$/);
    });
    assert.equal((await node.pods()).filter(({ metadata }) => metadata.name === last.metadata.name).length, 1);
  });

  test("with a UID of its own, only the container that changed is restarted", async () => {
    const metadata = { uid: "own-uid-in-place" };
    const pod = (image: string) =>
      // Its words follow the trap. A process 1 that does not catch the signal yet would be killed after its grace.
      manifest("in-place", [shell("changing", CATCHING, { image }), shell("staying", IDLE)], {
        metadata,
        // Long enough for the container to exit by itself.
        spec: { terminationGracePeriodSeconds: 60 },
      });
    await node.writeManifest("in-place", pod(testImage()));
    const before = await waitForPod(node, "in-place", ready, "Ready");
    assert.equal(before.metadata.uid, metadata.uid);
    await waitFor(async () => (await logLines(node, before, "changing")).length > 0, {
      what: "the container to catch the signal",
      timeoutMs: PATIENCE_MS,
    });
    await node.writeManifest("in-place", pod(OTHER_IMAGE));
    const after = await waitForPod(
      node,
      "in-place",
      (view) => ready(view) && statusOf(view, "changing")?.restartCount === 1,
      "its container restarted with the other image",
    );
    assert.notEqual(statusOf(after, "changing")?.containerID, statusOf(before, "changing")?.containerID);
    assert.equal(statusOf(after, "changing")?.lastState.terminated?.exitCode, 0);
    assert.equal(statusOf(after, "staying")?.containerID, statusOf(before, "staying")?.containerID);
    assert.equal(statusOf(after, "staying")?.restartCount, 0);
    assert.equal((await runtime.sandboxes(metadata.uid)).length, 1);
    assert.equal(after.status?.startTime, before.status?.startTime);
    assert.equal(
      after.metadata.annotations?.["kubernetes.io/config.seen"],
      before.metadata.annotations?.["kubernetes.io/config.seen"],
    );
  });

  test("with a UID of its own, a container that is added starts beside the others", async () => {
    const metadata = { uid: "own-uid-added" };
    const one = shell("one", IDLE);
    await node.writeManifest("added", manifest("added", [one], { metadata }));
    const before = await waitForPod(node, "added", ready, "Ready");
    await node.writeManifest("added", manifest("added", [one, shell("two", IDLE)], { metadata }));
    const after = await waitForPod(
      node,
      "added",
      (view) => ready(view) && statusOf(view, "two")?.state.running !== undefined,
      "both containers running",
    );
    assert.equal(statusOf(after, "one")?.containerID, statusOf(before, "one")?.containerID);
  });

  test("a renamed manifest makes another pod of the same name, after the old one's end", async () => {
    await node.writeManifest("renamed", await diarist("renamed", "pod"));
    const first = await waitForPod(node, "renamed", ready, "Ready");
    await diary("renamed", 1);
    await rename(path("renamed"), path("renamed-now"));
    const lines = await diary("renamed", 4);
    assert.deepEqual(lines, ["pod starts", "pod told", "pod ends", "pod starts"]);
    const second = await waitForPod(
      node,
      "renamed",
      (pod) => pod.metadata.uid !== first.metadata.uid && ready(pod),
      "Ready under a new UID",
    );
    assert.equal(second.metadata.name, first.metadata.name);
  });

  test("a file replaced by an equal one, or touched, changes nothing", async () => {
    const pod = manifest("replaced", [shell("app", IDLE)]);
    await node.writeManifest("replaced", pod);
    const before = await waitForPod(node, "replaced", ready, "Ready");
    await node.writeManifest("replaced", pod);
    await utimes(path("replaced"), new Date(), new Date());
    await appendFile(path("replaced"), "\n");
    // The kubelet has read all of it once a manifest written later runs.
    await node.writeManifest("replaced-after", manifest("replaced-after", [shell("app", IDLE)]));
    await waitForPod(node, "replaced-after", ready, "Ready");
    const after = podOf(await node.pods(), "replaced");
    assert.equal(after?.metadata.uid, before.metadata.uid);
    assert.equal(statusOf(after, "app")?.containerID, statusOf(before, "app")?.containerID);
    assert.equal(after.status?.phase, "Running");
  });

  test("a manifest written in two halves is taken when it is whole, without a complaint", async () => {
    // The kubelet waits a second for the other half. A try during which the machine stalled for so long does not count.
    const isInTime = async (name: string): Promise<boolean> => {
      const text = JSON.stringify(manifest(name, [shell("app", IDLE)]), undefined, 2);
      const begun = performance.now();
      const file = await open(path(name), "w");
      await file.write(text.slice(0, text.length / 2));
      await sleep(50);
      await file.write(text.slice(text.length / 2));
      const took = performance.now() - begun;
      await file.close();
      await waitForPod(node, name, ready, "Ready");
      return took < 900;
    };
    let name = "halves";
    while (!(await isInTime(name))) name = `${name}-again`;
    assert.equal(await complaints(name), 0);
  });

  test("a broken edit leaves the pod as it is and is reported once", async () => {
    const good = manifest("broken", [shell("app", IDLE)]);
    await node.writeManifest("broken", good);
    const before = await waitForPod(node, "broken", ready, "Ready");
    const bad = `apiVersion: v1\nkind: Pod\nmetadata:\n  name: broken\nspec:\n  containers:\n  - name: app\n    imagee: x\n    command: sh\n`;
    await node.writeManifest("broken", bad);
    await waitFor(async () => (await complaints("broken")) > 0, {
      what: "the complaint about the manifest",
      timeoutMs: PATIENCE_MS,
    });
    const log = (await readFile(node.kubelet.log, "utf8")).split("\n");
    const line = log.find((line) => line.includes(`${path("broken")}:7:5`));
    assert.ok(line, "the complaint names file, line and column of the first fault");
    assert.match(line, /spec\.containers\[0\]\.command/);
    // The same text once more is no news.
    await node.writeManifest("broken", bad);
    await utimes(path("broken"), new Date(), new Date());
    await node.writeManifest("broken-after", manifest("broken-after", [shell("app", IDLE)]));
    await waitForPod(node, "broken-after", ready, "Ready");
    assert.equal(await complaints("broken"), 1);
    const during = podOf(await node.pods(), "broken");
    assert.equal(idOf(statusOf(during, "app")), idOf(statusOf(before, "app")));

    await node.writeManifest("broken", good);
    await node.writeManifest("broken-later", manifest("broken-later", [shell("app", IDLE)]));
    await waitForPod(node, "broken-later", ready, "Ready");
    const after = podOf(await node.pods(), "broken");
    assert.equal(statusOf(after, "app")?.containerID, statusOf(before, "app")?.containerID);
  });

  test("two manifests of one pod name: the second waits for the end of the first", async () => {
    await node.writeManifest("twin-a", { ...(await diarist("twin", "a")) });
    const first = await waitForPod(node, "twin", ready, "Ready");
    await diary("twin", 1);
    await node.writeManifest("twin-b", { ...(await diarist("twin", "b")) });
    await node.writeManifest("twin-after", manifest("twin-after", [shell("app", IDLE)]));
    await waitForPod(node, "twin-after", ready, "Ready");
    assert.deepEqual(await diary("twin", 1), ["a starts"]);
    await node.removeManifest("twin-a");
    assert.deepEqual(await diary("twin", 4), ["a starts", "a told", "a ends", "b starts"]);
    const second = await waitForPod(
      node,
      "twin",
      (pod) => pod.metadata.uid !== first.metadata.uid && ready(pod),
      "Ready as the other pod",
    );
    assert.equal(second.metadata.name, `twin-${NODE_NAME}`);
  });

  test("hidden files and folders are no manifests", async () => {
    const pod = JSON.stringify(manifest("hidden", [shell("app", IDLE)]));
    await mkdir(join(node.kubelet.manifests, "folder"));
    await appendFile(join(node.kubelet.manifests, "folder", "hidden.yaml"), pod);
    await appendFile(join(node.kubelet.manifests, ".hidden.yaml"), pod);
    await node.writeManifest("hidden-after", manifest("hidden-after", [shell("app", IDLE)]));
    await waitForPod(node, "hidden-after", ready, "Ready");
    assert.equal(podOf(await node.pods(), "hidden"), undefined);
  });
});
