// containerd is killed by SIGKILL under 20 pods and restarts. No container restarts because of it, changes made
// meanwhile are applied, and the outage is logged once.
// @headline Failures | A killed containerd restarts no container. | 20 pods
// @promise Failures: containerd killed under 20 pods: no restarts, one log line, a pod added meanwhile runs.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import {
  agentLog,
  controlFolder,
  isError,
  firstStatus,
  identities,
  letExit,
  PATIENCE_MS,
  runs,
  sleeper,
  waiter,
  type AgentLogLine,
} from "../support/fault-node.js";

const BYSTANDERS = Array.from({ length: 19 }, (_, index) => `calm-${index}`);
const EXIT_CODE = 9;
const UNKNOWN_CODE = 255;
const GONE = /^the container runtime does not respond/;
const BACK = /^runtime containerd .* is reachable$/;

describe("containerd killed under 20 pods", () => {
  let node: TestNode;
  let ctl: string;

  before(async () => {
    node = await startNode({ containerd: "own" });
    ctl = await controlFolder(node);
    for (const name of BYSTANDERS) await node.writeManifest(name, sleeper(name));
    await node.writeManifest("ends", waiter("ends", ctl));
    await node.waitFor((pods) => [...BYSTANDERS, "ends"].every((name) => runs(pods, name)), {
      what: "20 pods to run",
      timeoutMs: PATIENCE_MS,
    });
  });
  after(() => node.stop());

  test("pods run on; a pod put down meanwhile starts; an exit meanwhile is not lost", async (t) => {
    const { containerd } = node;
    assert.ok(containerd !== undefined);
    const calm = identities(await node.pods(), BYSTANDERS);
    const endedId = firstStatus(await node.pods(), "ends")?.containerID;
    const logged = (await agentLog(node)).length;
    const since = async (): Promise<AgentLogLine[]> => (await agentLog(node)).slice(logged);

    await containerd.kill9();
    await waitFor(async () => (await since()).some(({ msg }) => GONE.test(msg)), {
      what: "the kubelet to notice the outage",
      timeoutMs: PATIENCE_MS,
    });
    await letExit(ctl, "ends", EXIT_CODE);
    await node.writeManifest("late", sleeper("late"));
    await node.waitFor((pods) => pods.length === 21, { what: "the late pod to be known", timeoutMs: PATIENCE_MS });
    assert.deepEqual(identities(await node.pods(), BYSTANDERS), calm, "an outage changes no status");

    await containerd.start();
    const answered = performance.now();
    await node.waitFor((pods) => runs(pods, "late"), { what: "the late pod to run", timeoutMs: PATIENCE_MS });
    const lateMs = Math.round(performance.now() - answered);
    const pods = await node.waitFor((seen) => runs(seen, "ends") && firstStatus(seen, "ends")?.restartCount === 1, {
      what: "the container that ended to be started again",
      timeoutMs: PATIENCE_MS,
    });
    t.diagnostic(`runtime answers → new pod Running: ${lateMs} ms (goal 1500 ms)`);

    const ended = firstStatus(pods, "ends")?.lastState.terminated;
    // containerd 2 does not know the exit code of a container that ended without it.
    const isKnown = parseInt(containerd.version.replace("v", "")) < 2;
    assert.equal(ended?.exitCode, isKnown ? EXIT_CODE : UNKNOWN_CODE);
    assert.equal(ended.containerID, endedId);
    assert.deepEqual(identities(pods, BYSTANDERS), calm);

    const lines = await since();
    assert.equal(lines.filter(({ msg }) => BACK.test(msg)).length, 1, "its return is reported once");
    const errors = lines.filter(isError).map(({ msg }) => msg);
    assert.equal(errors.length, 1, errors.join("\n"));
    assert.match(errors[0] ?? "", GONE);
  });

  test("a second outage, begun in the middle of a burst, ends the same way", async () => {
    const { containerd } = node;
    assert.ok(containerd !== undefined);
    const calm = identities(await node.pods(), BYSTANDERS);
    const burst = Array.from({ length: 4 }, (_, index) => `burst-${index}`);
    const logged = (await agentLog(node)).length;
    for (const name of burst) await node.writeManifest(name, sleeper(name));
    await waitFor(async () => (await agentLog(node)).slice(logged).some(({ step }) => step === "create-sandbox"), {
      what: "the first request for a sandbox",
      timeoutMs: PATIENCE_MS,
    });
    await containerd.kill9();
    await containerd.start();
    const pods = await node.waitFor((seen) => burst.every((name) => runs(seen, name)), {
      what: "the burst to run",
      timeoutMs: PATIENCE_MS,
    });
    assert.deepEqual(identities(pods, BYSTANDERS), calm);
  });
});
