// No disk space for pod records. Pods keep running and start, one message reports it, and the missing records are
// written when there is space again.
// @promise Failures: A full disk under the records: pods continue, one message, records written afterwards.

import assert from "node:assert/strict";
import { mkdir, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { run } from "../../tools/standalone/exec.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { agentLog, isError, identities, PATIENCE_MS, podOf, runs, sleeper } from "../support/fault-node.js";

describe("the disk of the pod records is full", () => {
  let node: TestNode;
  let state: string;

  before(async () => {
    node = await startNode({ start: false });
    state = join(node.kubelet.rootDir, "nodelet");
    await mkdir(state, { recursive: true });
    // The records' folder alone: everything else that pods need stays writable.
    await run("mount", ["-t", "tmpfs", "-o", "size=64k,mode=700", "nodelet-test", state]);
    await node.restart();
    await node.writeManifest("before", sleeper("before"));
    await node.writeManifest("leaves", sleeper("leaves"));
    await node.waitFor((pods) => ["before", "leaves"].every((name) => runs(pods, name)), {
      what: "the first pods to run",
      timeoutMs: PATIENCE_MS,
    });
  });
  after(() => node.stop()); // unmounts everything below the node's folder

  test("pods start, run on and go; one message; the records are written when there is space", async () => {
    const logged = (await agentLog(node)).length;
    const errors = async (): Promise<string[]> =>
      (await agentLog(node))
        .slice(logged)
        .filter(isError)
        .map(({ msg }) => msg);
    const before = identities(await node.pods(), ["before"]);
    const filler = join(state, "filler");
    await fill(filler);

    for (const name of ["during-0", "during-1", "during-2"]) await node.writeManifest(name, sleeper(name));
    await node.waitFor((pods) => ["during-0", "during-1", "during-2"].every((name) => runs(pods, name)), {
      what: "pods to start while the disk is full",
      timeoutMs: PATIENCE_MS,
    });
    await waitFor(async () => (await errors()).length > 0, { what: "the message", timeoutMs: PATIENCE_MS });
    // Room for one record: the others are still not written, so that the message is not repeated.
    await node.removeManifest("leaves");
    await node.waitFor((pods) => podOf(pods, "leaves") === undefined, {
      what: "a pod to go while the disk is full",
      timeoutMs: PATIENCE_MS,
    });
    assert.equal((await errors()).length, 1, (await errors()).join("\n"));
    assert.match((await errors())[0] ?? "", /cannot write pod records to .*no space left/);

    await unlink(filler);
    await node.writeManifest("after", sleeper("after"));
    const pods = await node.waitFor((seen) => runs(seen, "after"), {
      what: "a pod to run when there is space again",
      timeoutMs: PATIENCE_MS,
    });
    const uids = pods.map(({ metadata }) => `${metadata.uid}.json`).sort();
    await waitFor(async () => (await readdir(join(state, "pods"))).sort().join() === uids.join(), {
      what: "every pod to have its record, and nothing else to be there",
      timeoutMs: PATIENCE_MS,
      lastSeen: async () => (await readdir(join(state, "pods"))).join(" "),
    });
    assert.deepEqual(identities(pods, ["before"]), before);
    assert.equal((await errors()).length, 1, "no more was said");
  });

  test("a kubelet that starts on a full disk adopts its pods", async () => {
    const names = ["before", "during-0", "during-1", "during-2", "after"];
    const before = identities(await node.pods(), names);
    await fill(join(state, "filler"));
    await node.kill9();
    await node.restart();
    const pods = await node.waitFor((seen) => names.every((name) => runs(seen, name)), {
      what: "the pods to be adopted",
      timeoutMs: PATIENCE_MS,
    });
    assert.deepEqual(identities(pods, names), before);
  });
});

/** Writes until nothing more fits. */
async function fill(path: string): Promise<void> {
  const file = await open(path, "w");
  try {
    for (;;) await file.write(Buffer.alloc(4096));
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
  } finally {
    await file.close();
  }
}
