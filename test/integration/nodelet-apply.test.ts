// apply, diff, delete, restart and validate through the executable of nodelet, against a whole kubelet on real
// containerd.
// @promise Command and status page: `nodelet apply`, `diff`, `delete` and `restart` change pods of the manifest API
//   only; all manifests are tried, each failure is named with its place and gives exit code 1.
// @with test/cli/manifests
// @promise Command and status page: `nodelet validate` finds what the kubelet would refuse, without a kubelet: every
//   fault of every document, with line and column.
// @with test/cli/manifests/read.test.ts, test/workers/tasks/read-documents.test.ts

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { NODELET_ENTRY } from "../../tools/standalone/kubelet-process.js";
import { startNode, testImage, waitFor, type TestNode } from "../harness/node.js";
import { blocksOf } from "../support/doc-blocks.js";
import { nodelet, runNodelet, type CommandResult } from "../support/nodelet-command.js";
import { IDLE, manifest, podOf, shell, waitForPod, waitGone } from "../support/static-pods.js";

const running = ({ status }: { status?: { phase?: string } }): boolean => status?.phase === "Running";
const pod = (name: string, script = IDLE): object => manifest(name, [shell("app", script)]);
const yamls = (...objects: object[]): string =>
  objects.map((one) => `${JSON.stringify(one, undefined, 1)}\n`).join("---\n");

describe("the nodelet command with manifests", () => {
  let node: TestNode;
  let folder: string;
  const run = (...args: string[]): Promise<CommandResult> => nodelet(node, ...args);

  before(async () => {
    // As the packaged unit and npm start have it: test/main/threads/server-init.test.ts shows that no port has the API
    // then.
    node = await startNode({ flags: ["--manifest-api=socket"] });
    folder = join(node.kubelet.dir, "own");
    await mkdir(join(folder, "sub"), { recursive: true });
    await writeFile(join(folder, "web.yaml"), yamls(pod("web")));
    await writeFile(join(folder, "list.json"), JSON.stringify({ kind: "List", apiVersion: "v1", items: [pod("one")] }));
    await writeFile(join(folder, "sub", "two.yml"), yamls(pod("two"), pod("three")));
    await writeFile(join(folder, "notes.txt"), "no manifest");
    await node.writeManifest("file", pod("file"));
    await waitForPod(node, "file", running, "running");
  });
  after(() => node.stop());

  test("the commands of docs/nodelet.md work in their order", async () => {
    const page = await readFile("docs/nodelet.md", "utf8");
    const blocks = blocksOf(page).filter(
      ({ environment }) =>
        environment?.kind === "run by" && environment.files.includes("test/integration/nodelet-apply.test.ts"),
    );
    assert.equal(blocks.length, 1);
    const script = blocks[0]?.text.replaceAll("docker.io/library/busybox:1.36", testImage()) ?? "";
    const program = `nodelet() { ${process.execPath} ${NODELET_ENTRY} --root-dir ${node.kubelet.rootDir} "$@"; }`;
    const file = join(node.kubelet.dir, "calls.sh");
    await writeFile(file, `set -euo pipefail; cd ${node.kubelet.dir}\n${program}\n${script}`);
    const { stdout } = await promisify(execFile)("bash", [file], { timeout: 180_000 });
    const said = [...stdout.matchAll(/^pod\/web .*$/gm)].map(([line]) => line);
    const promised = [...script.matchAll(/# (pod\/web .*)$/gm)].map(([, line]) => line);
    assert.deepEqual(said, promised);
    assert.equal(promised.length, 4);
  });

  test("diff and apply agree: new, equal and changed manifests", async () => {
    const first = await run("diff", "-f", folder);
    assert.equal(first.code, 1, first.stderr);
    assert.match(first.stdout, /^--- \/dev\/null\n\+\+\+ \S+list\.json default\/one$/m);

    assert.deepEqual(await run("apply", "-f", folder, "--dry-run"), {
      ...{ code: 0, stdout: "pod/one created (dry run)\npod/web created (dry run)\n", stderr: "" },
    });
    const applied = await run("apply", "-R", "-f", folder);
    const created = ["one", "two", "three", "web"].map((name) => `pod/${name} created\n`).join("");
    assert.deepEqual(applied, { code: 0, stdout: created, stderr: "" });
    await waitForPod(node, "web", running, "running");

    assert.deepEqual(await run("diff", "-R", "-f", folder), { code: 0, stdout: "", stderr: "" });
    assert.match((await run("apply", "-f", folder)).stdout, /^pod\/one unchanged\npod\/web unchanged\n$/);

    const changed = yamls(pod("web", `echo changed; ${IDLE}`));
    const diff = await runNodelet(["--root-dir", node.kubelet.rootDir, "diff", "-f", "-"], { input: changed });
    assert.equal(diff.code, 1, diff.stderr);
    assert.match(diff.stdout, /^\+.*echo changed/m);
    assert.doesNotMatch(diff.stdout, /terminationGracePeriodSeconds: \d+\n\+/);
    const piped = await runNodelet(["--root-dir", node.kubelet.rootDir, "apply", "-f", "-"], { input: changed });
    assert.deepEqual(piped, { code: 0, stdout: "pod/web configured\n", stderr: "" });
    await waitFor(async () => (await run("logs", "web")).stdout === "changed\n", {
      what: "the changed pod's output",
      timeoutMs: 60_000,
    });
  });

  test("restart ends the pod and starts it anew; apply of the same file leaves it then", async () => {
    const before = await waitForPod(node, "one", running, "running");
    assert.deepEqual(await run("restart", "one"), { code: 0, stdout: "pod/one restarted\n", stderr: "" });
    const after = await waitForPod(
      node,
      "one",
      (now) => now.metadata.uid !== before.metadata.uid && running(now),
      "running under another UID",
    );
    const idOf = ({ status }: typeof after): string | undefined => status?.containerStatuses?.[0]?.containerID;
    assert.notEqual(idOf(after), idOf(before));
    assert.equal((await run("apply", "-f", join(folder, "list.json"))).stdout, "pod/one unchanged\n");
    assert.equal((await run("diff", "-f", join(folder, "list.json"))).code, 0);
    assert.equal(podOf(await node.pods(), "one")?.metadata.uid, after.metadata.uid);
  });

  test("restart of a pod of a manifest file stops its containers in order and starts them again under the same UID", async () => {
    const logs = async (): Promise<string[]> => (await readFile(join(folder, "order"), "utf8")).trim().split("\n");
    const said = (name: string): string =>
      `trap 'echo ${name} ends >>/data/order; exit 0' TERM; echo ${name} starts >>/data/order; while true; do sleep 3600 & wait $!; done`;
    const data = { volumeMounts: [{ name: "data", mountPath: "/data" }] };
    const sidecar = { ...shell("sidecar", said("sidecar"), data), restartPolicy: "Always" as const };
    const volumes = [{ name: "data", hostPath: { path: folder } }];
    await node.writeManifest(
      "ordered",
      manifest("ordered", [shell("app", said("app"), data)], { spec: { initContainers: [sidecar], volumes } }),
    );
    const before = await waitForPod(node, "ordered", running, "running");
    const text = await readFile(join(node.kubelet.manifests, "ordered.yaml"), "utf8");
    assert.deepEqual(await run("restart", "ordered"), { code: 0, stdout: "pod/ordered restarted\n", stderr: "" });
    const idOf = ({ status }: typeof before): string | undefined => status?.containerStatuses?.[0]?.containerID;
    const after = await waitForPod(
      node,
      "ordered",
      (now) => running(now) && idOf(now) !== undefined && idOf(now) !== idOf(before),
      "running with other containers",
    );
    assert.equal(after.metadata.uid, before.metadata.uid);
    assert.equal(await readFile(join(node.kubelet.manifests, "ordered.yaml"), "utf8"), text);
    const once = ["sidecar starts", "app starts"];
    assert.deepEqual(await logs(), [...once, "app ends", "sidecar ends", ...once]);
    await node.removeManifest("ordered");
    await waitGone(node, "ordered");
  });

  test("a restart survives the end of the kubelet: the pod ends with its grace period and starts again", async () => {
    const hook = { preStop: { exec: { command: ["sh", "-c", "until [ -e /data/go ]; do sleep 0.1; done"] } } };
    const app = shell("app", IDLE, { lifecycle: hook, volumeMounts: [{ name: "data", mountPath: "/data" }] });
    const volumes = [{ name: "data", hostPath: { path: folder } }];
    await node.writeManifest(
      "hooked",
      manifest("hooked", [app], { spec: { volumes, terminationGracePeriodSeconds: 600 } }),
    );
    const idOf = ({ status }: typeof before): string | undefined => status?.containerStatuses?.[0]?.containerID;
    const before = await waitForPod(node, "hooked", running, "running");
    assert.equal((await run("restart", "hooked")).stdout, "pod/hooked restarted\n");
    await waitFor(async () => /^default +hooked-testnode +\S+ +Terminating /m.test((await run("pods")).stdout), {
      what: "the pod to terminate",
    });
    await node.kill9();
    await node.restart();
    await writeFile(join(folder, "go"), "");
    const after = await waitForPod(
      node,
      "hooked",
      (now) => running(now) && idOf(now) !== undefined && idOf(now) !== idOf(before),
      "running with another container",
    );
    assert.equal(after.metadata.uid, before.metadata.uid);
    await node.removeManifest("hooked");
    await waitGone(node, "hooked");
  });

  test("a pod with a UID of its own in the manifest is restarted under it", async () => {
    const uid = "5c1f0e6a4d8b4f0c9a7e3b2d1f6a8c91";
    const own = { ...(pod("own-uid") as { metadata: object }), metadata: { name: "own-uid", uid } };
    const input = yamls(own);
    assert.equal((await runNodelet(["--root-dir", node.kubelet.rootDir, "apply", "-f", "-"], { input })).code, 0);
    const before = await waitForPod(node, "own-uid", running, "running");
    assert.equal((await run("restart", "own-uid")).stdout, "pod/own-uid restarted\n");
    const idOf = ({ status }: typeof before): string | undefined => status?.containerStatuses?.[0]?.containerID;
    const after = await waitForPod(
      node,
      "own-uid",
      (now) => running(now) && idOf(now) !== undefined && idOf(now) !== idOf(before),
      "running with another container",
    );
    assert.deepEqual([before.metadata.uid, after.metadata.uid], [uid, uid]);
    assert.equal((await run("delete", "own-uid", "--now")).code, 0);
    assert.match((await run("restart", "own-uid")).stderr, /this node has no pod own-uid/);
  });

  test("one failure is named and does not stop the others", async () => {
    const bad = { ...pod("bad"), spec: { containers: [{ name: "app" }] } };
    await writeFile(
      join(folder, "mixed.yaml"),
      yamls(bad, pod("file"), pod("last"), { kind: "Deployment", apiVersion: "apps/v1" }),
    );
    const { code, stdout, stderr } = await run(
      "apply",
      "-f",
      join(folder, "mixed.yaml"),
      "-f",
      join(folder, "none.yaml"),
    );
    assert.equal(code, 1);
    assert.equal(stdout, "pod/last created\n");
    assert.match(stderr, /mixed\.yaml:\d+:\d+: spec\.containers\[0\]\.image: required value/);
    assert.match(stderr, /none\.yaml: there is no such file/);
    assert.match(stderr, /pod\/file in namespace default: .* comes from a file in \S+: change that file/);
    assert.match(stderr, /mixed\.yaml:\d+:\d+: kind: .*"Deployment".*make a Pod of its spec\.template/);
    assert.doesNotMatch(stderr, /[{}]/);
    const diff = await run("diff", "-f", join(folder, "mixed.yaml"));
    assert.equal(diff.code, 2, diff.stdout);

    const json = JSON.parse((await run("-o", "json", "apply", "-f", join(folder, "mixed.yaml"))).stdout) as object[];
    assert.deepEqual(json.at(-1), { name: "pod/last", namespace: "default", result: "unchanged" });
  });

  test("delete ends pods by name and by file, waits for them, and refuses pods of files", async () => {
    const { code, stdout, stderr } = await run("delete", "one", "file", "nosuch", "--timeout", "2m");
    assert.equal(code, 1);
    assert.equal(stdout, "pod/one deleted\n");
    assert.equal(podOf(await node.pods(), "one"), undefined);
    assert.match(stderr, /^nodelet: file: it comes from a file in \S+: remove that file/m);
    assert.match(stderr, /^nodelet: nosuch: this node has no pod nosuch/m);
    assert.ok(podOf(await node.pods(), "file"));

    const slow = { ...pod("slow", "trap '' TERM; while true; do sleep 1; done") } as { spec: object };
    const input = yamls({ ...slow, spec: { ...slow.spec, terminationGracePeriodSeconds: 3600 } });
    const args = ["--root-dir", node.kubelet.rootDir];
    assert.equal((await runNodelet([...args, "apply", "-f", "-"], { input })).code, 0);
    await waitForPod(node, "slow", running, "running");
    // Its own hour would outlast the test.
    const deleted = await runNodelet([...args, "delete", "-f", "-", "--grace-period=1"], { input });
    assert.deepEqual(deleted, { code: 0, stdout: "pod/slow deleted\n", stderr: "" });
    assert.equal(podOf(await node.pods(), "slow"), undefined);

    assert.equal((await runNodelet([...args, "apply", "-f", "-"], { input })).code, 0);
    await waitForPod(node, "slow", running, "running");
    const late = await run("delete", "slow", "--grace-period=5", "--timeout=100ms");
    assert.deepEqual([late.code, late.stdout], [1, "pod/slow deleted\n"]);
    assert.match(
      late.stderr,
      /pod\/slow in namespace default: it still terminates after 0\.1 s: nodelet why default\/slow/,
    );
    // Its manifest is gone; the command waits for what is left.
    const again = { code: 0, stdout: "pod/slow is being deleted already\n", stderr: "" };
    assert.deepEqual(await run("delete", "slow"), again);

    assert.equal((await runNodelet([...args, "apply", "-f", "-"], { input })).code, 0);
    await waitForPod(node, "slow", running, "running");
    assert.equal((await run("delete", "slow", "--wait=false")).stdout, "pod/slow deleted\n");
    // Its own hour would outlast the test: the second deletion ends it, as kubectl's does.
    const shortened = await run("delete", "slow", "--grace-period=1");
    assert.deepEqual(shortened, {
      ...{ code: 0, stdout: "pod/slow is being deleted already, now within 1 s\n", stderr: "" },
    });
    assert.equal(podOf(await node.pods(), "slow"), undefined);

    assert.equal(
      (await run("delete", "-R", "-f", folder, "--wait=false", "--ignore-not-found", "--now")).stdout.split("\n")
        .length,
      5,
    );
    for (const name of ["web", "two", "three", "last"]) await waitGone(node, name);
    assert.equal((await run("delete", "pod", "web", "--ignore-not-found")).code, 0);

    assert.equal((await run("apply", "-f", folder)).code, 1);
    const all = await run("delete", "--all", "--force", "--grace-period=0");
    assert.deepEqual(
      [all.code, all.stdout.split("\n").sort()],
      [0, ["", "pod/last deleted", "pod/one deleted", "pod/web deleted"]],
    );
    assert.ok(podOf(await node.pods(), "file"));
  });

  test("a kubelet without the manifest API is named, with the flag that turns it on", async () => {
    const other = await startNode();
    try {
      const { code, stderr } = await nodelet(other, "apply", "-f", join(folder, "web.yaml"));
      assert.equal(code, 1);
      assert.match(
        stderr,
        /manifest API is off\nwhat to do: start the kubelet with --manifest-api=socket, as the packages do .*KUBELET_EXTRA_ARGS.*or put the manifests into/,
      );
      // A restart needs no manifest API.
      await other.writeManifest("file", pod("file"));
      await waitForPod(other, "file", running, "running");
      assert.equal((await nodelet(other, "restart", "file")).stdout, "pod/file restarted\n");
      assert.equal((await nodelet(other, "diff", "-f", folder)).code, 2);
    } finally {
      await other.stop();
    }
  });
});

describe("the nodelet command's habits", () => {
  let node: TestNode;
  const run = (...args: string[]): Promise<CommandResult> => nodelet(node, ...args);

  before(async () => {
    node = await startNode({});
    await node.writeManifest("web", manifest("web", [shell("app", `echo hello; ${IDLE}`), shell("side", IDLE)]));
    await waitForPod(node, "web", running, "running");
  });
  after(() => node.stop());

  test("exec takes the command's options after the pod, with and without --", async () => {
    assert.match((await run("exec", "web", "ls", "-la", "/")).stdout, /^d.* \.\n/m);
    assert.match((await run("exec", "web", "-c", "side", "--", "ls", "-la", "/")).stdout, /^d.* \.\n/m);
  });

  test("logs takes durations, times and the container as a word; a wrong value is text, not JSON", async () => {
    await waitFor(async () => (await run("logs", "web")).stdout !== "", {
      what: "a line in the log",
      timeoutMs: 60_000,
    });
    assert.equal((await run("logs", "web", "--since", "5h")).stdout, "hello\n");
    assert.equal((await run("logs", "web", "app", "--since-time", "2020-01-01T00:00:00Z")).stdout, "hello\n");
    assert.equal((await run("-n", "default", "logs", "web", "--tail", "0")).stdout, "");
    const previous = await run("logs", "web", "side", "-p");
    assert.deepEqual([previous.code, previous.stdout], [1, ""]);
    assert.match(previous.stderr, /^nodelet: [^{}]+\n$/);
  });

  test("the first top has the usage of processors", async () => {
    const { stdout } = await run("top");
    assert.match(stdout, /default\/web-testnode +\d+m /);
    assert.equal((await run("stats", "web", "--containers")).stdout.split("\n").length, 6);
    assert.match((await run("top", "nosuch")).stderr, /has no pod nosuch/);
  });

  test("names for completion come from the socket; without a kubelet there are none, and no words", async () => {
    assert.deepEqual(await run("__names"), { code: 0, stdout: "web\n", stderr: "" });
    assert.deepEqual(await run("__names", "--containers-of", "web"), { code: 0, stdout: "app\nside\n", stderr: "" });
    assert.deepEqual(await runNodelet(["--socket", "/nonexistent", "__names"]), { code: 0, stdout: "", stderr: "" });
  });

  test("version names the command's and the kubelet's; --version is one line", async () => {
    assert.match((await run("version")).stdout, /^nodelet +\d[^\n]*\nkubelet +Kubernetes v1\./);
    assert.match((await runNodelet(["--version"])).stdout, /^nodelet \d+\.\d+\.\d+(?:[-+.]\S+)?\n$/);
  });
});

test("validate needs no kubelet: all faults with their places, and the exit code for CI", async () => {
  const input = yamls({ ...pod("web"), spec: { containers: [{ name: "app", image: "i", comand: ["x"] }] } });
  const args = ["--socket", "/nonexistent", "validate", "-f", "-"];
  const loose = await runNodelet(args, { input });
  assert.equal(loose.code, 0);
  assert.match(
    loose.stdout,
    /^standard input:\d+:\d+: warning: spec\.containers\[0\]\.comand: .*did you mean "command"/m,
  );
  const strict = await runNodelet([...args, "--strict"], { input });
  assert.equal(strict.code, 1);
  assert.match(strict.stdout, / error: .*comand.*\n1 text, 1 valid pod, 1 error, 0 warnings\n$/);
  const broken = await runNodelet(args, { input: `${yamls(pod("a"))}---\na: [b\n---\nkind: Pod\n` });
  assert.equal(broken.code, 1);
  assert.match(broken.stdout, /error: syntax: [^]*error: apiVersion: required[^]*error: metadata: required/);
});
