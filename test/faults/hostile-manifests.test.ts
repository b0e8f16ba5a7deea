// Hostile files in the manifest folder of a whole kubelet: one message each, the pods beside them are left alone.

import assert from "node:assert/strict";
import { mkdir, rename, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { basename, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { run } from "../../tools/standalone/exec.js";
import { isHealthy } from "../../tools/standalone/pods.js";
import { PATIENCE } from "../../tools/standalone/wait.js";
import { startNode, waitFor, type PodView, type TestNode } from "../harness/node.js";
import { agentLog, isError, identities, PATIENCE_MS, podOf, runs, sleeper } from "../support/fault-node.js";

const MIB = 1024 * 1024;
const HEAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\n";

/** Name of the file and its text. Each is refused. */
const TEXTS: Record<string, string | Buffer> = {
  empty: "",
  blank: " \n\t",
  binary: Buffer.from([0, 1, 2, 0xff, 0xfe, 0x80]),
  utf16: Buffer.from(`\ufeff${HEAD}`, "utf16le"),
  nul: `${HEAD}\0`,
  "not-yaml": "{[}]: - :",
  tabs: "apiVersion: v1\nkind:\n\t- Pod\n",
  "cut-json": `{"apiVersion":"v1","kind":"Pod","metadata":{"na`,
  "cut-yaml": `${HEAD}spec:\n  containers:\n  - name: "a`,
  list: "- 1\n- 2\n",
  scalar: "hello\n",
  "wrong-kind": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n",
  "wrong-version": "apiVersion: v99\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: b}]}\n",
  "no-containers": `${HEAD}spec: {containers: []}\n`,
  "no-spec": HEAD,
  "null-spec": `${HEAD}spec: null\n`,
  "number-spec": `${HEAD}spec: 5\n`,
  "wrong-types": `${HEAD}spec: {containers: {name: a}, hostNetwork: "perhaps", terminationGracePeriodSeconds: -1}\n`,
  "bad-name": "apiVersion: v1\nkind: Pod\nmetadata: {name: ../../etc}\nspec: {containers: [{name: a, image: b}]}\n",
  "bad-uid": `apiVersion: v1\nkind: Pod\nmetadata: {name: a, uid: ../../x}\nspec: {containers: [{name: a, image: b}]}\n`,
  "bad-namespace": `apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ../x}\nspec: {containers: [{name: a, image: b}]}\n`,
  "bad-quantity": `${HEAD}spec: {containers: [{name: a, image: b, resources: {limits: {memory: lots}}}]}\n`,
  "twin-containers": `${HEAD}spec: {containers: [{name: a, image: b}, {name: a, image: b}]}\n`,
  "alias-bomb": Array.from({ length: 30 }, (_, i) =>
    i === 0 ? "k0: &k0 [x,x]" : `k${i}: &k${i} [${`*k${i - 1},`.repeat(10)}]`,
  ).join("\n"),
  "deep-bomb": "[".repeat(200_000),
  "merge-bomb": Array.from({ length: 30 }, (_, i) =>
    i === 0 ? "k0: &k0 {a: 1}" : `k${i}: &k${i} {<<: [${`*k${i - 1},`.repeat(9)}]}`,
  ).join("\n"),
  "self-alias": "a: &a [*a]\n",
};

describe("hostile files beside a good pod", () => {
  let node: TestNode;
  let socket: Server;
  let errors: string[] = [];

  before(async () => {
    node = await startNode({ config: { fileCheckFrequency: "1s" } });
    await node.writeManifest("good", sleeper("good"));
    await node.waitFor((pods) => runs(pods, "good"), { what: "the good pod to run", timeoutMs: PATIENCE_MS });
  });
  after(async () => {
    socket.close();
    await node.stop();
  });

  test(
    "one message each; the good pod is untouched; the kubelet works on",
    { timeout: 3 * PATIENCE_MS * PATIENCE },
    async () => {
      const { manifests, dir, pid } = node.kubelet;
      const before = identities(await node.pods(), ["good"]);
      const logged = (await agentLog(node)).length;
      const at = (name: string): string => join(manifests, `${name}.yaml`);
      const paths = Object.keys(TEXTS).map(at);
      for (const [name, text] of Object.entries(TEXTS)) {
        await writeFile(join(dir, name), text);
        await rename(join(dir, name), at(name));
      }
      await writeFile(join(dir, "huge"), "#");
      await truncate(join(dir, "huge"), 11 * MIB);
      await rename(join(dir, "huge"), at("huge"));
      // The way back is there first, in a file that the kubelet does not read. A loop that is seen half made is another
      // fault.
      await symlink(basename(at("loop")), join(manifests, ".loop-back"));
      await symlink(".loop-back", at("loop"));
      await symlink("/nowhere/at/all", at("dangling"));
      await symlink("/dev/zero", at("device"));
      await run("mkfifo", [at("fifo")]);
      socket = createServer().listen(at("socket"));
      paths.push(...["huge", "loop", "dangling", "device", "fifo", "socket"].map(at));
      // These are none of the kubelet's business: not a word about them.
      await mkdir(at("folder"));
      await writeFile(join(manifests, ".hidden.yaml"), "garbage");

      const allReported = async (): Promise<boolean> => {
        errors = await reported(logged);
        return paths.every((path) => countOf(errors, path) > 0);
      };
      await waitFor(allReported, {
        what: "a message about each file",
        timeoutMs: 2 * PATIENCE_MS,
        lastSeen: () => paths.filter((path) => countOf(errors, path) === 0).join(" "),
      });
      const outside = join(dir, "outside.yaml");
      await writeFile(outside, JSON.stringify(sleeper("later")));
      await symlink(outside, at("later"));
      await node.waitFor((seen) => runs(seen, "later"), {
        what: "a good pod to start beside them",
        timeoutMs: PATIENCE_MS,
      });
      // inotify does not see behind a link: once this is noticed, every file has been looked at again.
      await writeFile(join(dir, "incoming"), JSON.stringify(sleeper("later", 2)));
      await rename(join(dir, "incoming"), outside);
      const twice = (pods: PodView[]): boolean => podOf(pods, "later")?.spec.containers.length === 2;
      const pods = await node.waitFor((seen) => runs(seen, "later") && twice(seen), {
        what: "a scan to find the pod's new definition",
        timeoutMs: PATIENCE_MS,
      });
      errors = await reported(logged);
      for (const path of paths) assert.equal(countOf(errors, path), 1, `messages about ${path}`);
      assert.equal(errors.length, paths.length, errors.join("\n"));

      assert.equal(pods.length, 2);
      assert.deepEqual(identities(await node.pods(), ["good"]), before);
      assert.ok(await isHealthy(node.kubelet.healthzUrl));
      assert.equal(node.kubelet.pid, pid);
    },
  );

  async function reported(from: number): Promise<string[]> {
    return (await agentLog(node))
      .slice(from)
      .filter(isError)
      .map(({ msg }) => msg);
  }
});

function countOf(messages: readonly string[], path: string): number {
  return messages.filter((message) => message.includes(`${path}:`) || message.includes(`${path} `)).length;
}
