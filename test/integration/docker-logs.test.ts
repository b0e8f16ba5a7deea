// Logs of the Docker Engine as cri-dockerd shows them: links to lines of JSON. A whole node serves, rotates and quotes
// them. The containers are containerd's; the test puts the links in the place of their logs.

import assert from "node:assert/strict";
import { appendFile, lstat, mkdir, readdir, rename, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { dockerText } from "../support/log-kit.js";
import { nodelet } from "../support/nodelet-command.js";
import { secureOpen } from "../support/secure-ask.js";
import {
  IDLE,
  idOf,
  logDirectory,
  manifest,
  NODE_NAME,
  PATIENCE_MS,
  shell,
  statusOf,
  waitForPod,
} from "../support/static-pods.js";

const MAX_SIZE = 64 * 1024;
const POD = "docked";
const json = (text: string, stream: "stdout" | "stderr" = "stdout"): string =>
  dockerText({ stream, tag: "F", text, second: 1_700_000_000 });

describe("logs of the Docker Engine", () => {
  let node: TestNode;
  let ctl: string;
  before(async () => {
    node = await startNode({ config: { containerLogMaxSize: String(MAX_SIZE) }, secure: true });
    ctl = join(node.kubelet.dir, "ctl");
    await mkdir(ctl);
    const volumeMounts = [{ name: "ctl", mountPath: "/ctl" }];
    const when = (file: string): string => `until [ -e /ctl/${file} ]; do sleep 0.1; done`;
    const containers = [
      shell("app", IDLE),
      shell("planter", IDLE),
      shell("big", `${when("big")}; echo from the new file; ${IDLE}`, { volumeMounts }),
      shell("crasher", `${when("crash")}; [ -e /ctl/crashed ] || { touch /ctl/crashed; exit 3; }; ${IDLE}`, {
        volumeMounts,
        terminationMessagePolicy: "FallbackToLogsOnError",
      }),
    ];
    await node.writeManifest(
      POD,
      manifest(POD, containers, { spec: { volumes: [{ name: "ctl", hostPath: { path: ctl } }] } }),
    );
  });
  after(() => node.stop());

  /** Puts a link to a file of Docker in the place of the container's log; returns the file. */
  async function dock(container: string, text: string): Promise<string> {
    const isRunning = (state: { running?: unknown } | undefined): boolean => state?.running !== undefined;
    const pod = await waitForPod(node, POD, (seen) => isRunning(statusOf(seen, container)?.state), "running");
    const id = idOf(statusOf(pod, container));
    const file = join(node.kubelet.dir, "docker", "containers", id, `${id}-json.log`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    const log = join(logDirectory(node, pod), container, "0.log");
    const link = join(node.kubelet.dir, `link-${container}`);
    await symlink(file, link);
    await rename(link, log);
    return file;
  }
  const logs = async (container: string, ...args: string[]): Promise<string> =>
    (await nodelet(node, "logs", POD, "-c", container, ...args)).stdout;

  test("the lines are printed, with the options of the command, and followed", async () => {
    const file = await dock("app", json("one") + json("two", "stderr") + json("three"));
    assert.equal(await logs("app"), "one\ntwo\nthree\n");
    assert.equal(await logs("app", "--tail", "2"), "two\nthree\n");
    assert.equal(await logs("app", "--tail", "1", "--timestamps"), "2023-11-14T22:13:20.000000000Z three\n");
    assert.equal(await logs("app", "--since", "1h"), "");
    const response = await secureOpen(node, `/containerLogs/default/${POD}-${NODE_NAME}/app?follow=1&tailLines=1`);
    let text = "";
    response.setEncoding("utf8").on("data", (part: string) => (text += part));
    await waitFor(() => text === "three\n", { what: "the last line", timeoutMs: PATIENCE_MS });
    await appendFile(file, json("four"));
    await waitFor(() => text === "three\nfour\n", { what: "the line that was written later", timeoutMs: PATIENCE_MS });
    response.destroy();
    await appendFile(file, '{"log":"x","stream":"other"}\n');
    assert.equal(await logs("app", "--tail", "2"), 'four\nunexpected stream type "other"');
  });

  test("a link to another container's file, or of the node, is refused", async () => {
    const file = await dock("planter", json("own"));
    assert.equal(await logs("planter"), "own\n");
    const pod = await waitForPod(node, POD, () => true, "there");
    const log = join(logDirectory(node, pod), "planter", "0.log");
    const other = await dock("big", json("secret"));
    await writeFile(join(dirname(file), "secret"), json("secret"));
    for (const target of [other, join(dirname(file), "secret")]) {
      const link = join(node.kubelet.dir, "planted");
      await symlink(target, link);
      await rename(link, log);
      const { code, stdout, stderr } = await nodelet(node, "logs", POD, "-c", "planter");
      assert.notEqual(code, 0);
      assert.doesNotMatch(stdout + stderr, /secret/);
      assert.match(stderr, /is a symbolic link, not a regular file/);
    }
  });

  test("a log that is full is rotated, and its lines stay readable", async () => {
    const file = await dock("big", json("before the rotation"));
    const pod = await waitForPod(node, POD, () => true, "there");
    const folder = join(logDirectory(node, pod), "big");
    await appendFile(file, json("x".repeat(MAX_SIZE)));
    await waitFor(async () => (await readdir(folder)).length > 1 && (await lstat(join(folder, "0.log"))).isFile(), {
      what: "the runtime to open a new file",
      timeoutMs: PATIENCE_MS,
    });
    await writeFile(join(ctl, "big"), "");
    const expected = `before the rotation\n${"x".repeat(MAX_SIZE)}\nfrom the new file\n`;
    await waitFor(async () => (await logs("big")) === expected, { what: "all lines", timeoutMs: PATIENCE_MS });
    assert.equal(await logs("big", "--tail", "1"), "from the new file\n");
  });

  test("the last lines are the message of a crashed container, and the log of its run is kept as the previous one", async () => {
    await dock("crasher", json("its") + json("last words", "stderr"));
    await writeFile(join(ctl, "crash"), "");
    const pod = await waitForPod(
      node,
      POD,
      (seen) => statusOf(seen, "crasher")?.lastState.terminated !== undefined,
      "crashed",
    );
    assert.equal(statusOf(pod, "crasher")?.lastState.terminated?.message, "its\nlast words\n");
    const first = async (): Promise<boolean> => (await logs("crasher", "--previous")) === "its\nlast words\n";
    await waitFor(first, { what: "the log of the run before", timeoutMs: PATIENCE_MS });
  });
});
