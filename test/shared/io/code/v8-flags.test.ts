// V8's flags and its code caches. Caches are taken while code is loaded; the flags of rest hold when none is.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { CodeLoads } from "../../../../src/shared/io/code/v8-flags.js";
import { KUBELET_NODE_FLAGS } from "../../../../tools/standalone/kubelet-process.js";

const FLAGS = new URL("../../../../src/shared/io/code/v8-flags.js", import.meta.url).href;

/** The tag changes with the flags that V8 compares. */
async function tagOf(flags: readonly string[], script: string): Promise<string> {
  const text = `
    import { cachedDataVersionTag } from "node:v8"; import { setRestFlags, setV8Flags } from ${JSON.stringify(FLAGS)};
    ${script}; console.log(cachedDataVersionTag());`;
  const args = [...flags, "--input-type=module", "--eval", text];
  return (await promisify(execFile)(process.execPath, args)).stdout;
}

test("a kubelet that starts has flags under which V8 takes the code cache of Node's own modules", async () => {
  assert.equal(await tagOf(KUBELET_NODE_FLAGS, "setV8Flags()"), await tagOf([], ""));
});

test("a thread that starts while the kubelet is at rest finds those flags again", async () => {
  const script = "setV8Flags(); setRestFlags(true); setRestFlags(false)";
  assert.equal(await tagOf(KUBELET_NODE_FLAGS, script), await tagOf([], ""));
});

test("V8 optimizes code at rest only while the kubelet is busy, and a thread that starts finds V8's own flags", async () => {
  const flags = "setV8Flags(); setRestFlags(true)";
  const atRest = await tagOf(KUBELET_NODE_FLAGS, flags);
  const busy = await tagOf(KUBELET_NODE_FLAGS, "setV8Flags(); setRestFlags(true, true)");
  assert.notEqual(busy, atRest);
  assert.equal(await tagOf(KUBELET_NODE_FLAGS, "setV8Flags(); setRestFlags(true, true); setRestFlags(true)"), atRest);
  const script = "setV8Flags(); setRestFlags(true, true); setRestFlags(false, true)";
  assert.equal(await tagOf(KUBELET_NODE_FLAGS, script), await tagOf([], ""));
});

test("a load that lasts while a thread starts is set when the thread has started", () => {
  const set: [boolean, boolean][] = [];
  const loads = new CodeLoads((atRest, busy) => set.push([atRest, busy]));
  const thread = loads.begin();
  loads.setBusy(true);
  thread();
  loads.setBusy(false);
  assert.deepEqual(set, [
    [false, false],
    [true, true],
    [true, false],
  ]);
});

test("the flags of rest are set when the last load of code ends, and not before", () => {
  const set: boolean[] = [];
  const loads = new CodeLoads((atRest) => set.push(atRest));
  const start = loads.begin();
  const thread = loads.begin();
  start();
  start();
  assert.deepEqual(set, [false]);
  thread();
  assert.deepEqual(set, [false, true]);
  loads.begin()();
  assert.deepEqual(set, [false, true, false, true]);
});
