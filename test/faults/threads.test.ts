// Worker threads of a real kubelet crash, hang and run out of heap. The thread restarts with its state, and pods are
// not affected.
// @headline Failures | A thread that exits, hangs or fills its heap is replaced. | no container restarts
// @promise Failures: A server thread that exits repeatedly is restarted without a limit: process, watchdog and pods
//   continue; only pleg may stop the process.
// @with test/main/threads/thread-context.test.ts, test/main/process/systemd/watchdog.test.ts
// @promise Failures: A thread that is terminated, hangs or is out of heap is replaced; no container restarts; exits
//   are still detected.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { PATIENCE } from "../../tools/standalone/wait.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import {
  agentLog,
  controlFolder,
  firstStatus,
  identities,
  letExit,
  metric,
  PATIENCE_MS,
  runs,
  sleeper,
  waiter,
  type AgentLogLine,
} from "../support/fault-node.js";

const EXIT_CODE = 7;

interface Case {
  thread: "pleg" | "server" | "image-gc";
  fault: "terminate" | "hang" | "heap";
  /** The exit's cause, as the metric's label has it. */
  cause: string;
  reason: RegExp;
}

const CAUSES = {
  terminate: { cause: "terminated", reason: /terminated on request/ },
  hang: { cause: "stalled", reason: /event loop has not turned for \d+ ms/ },
  heap: { cause: "out-of-memory", reason: /heap limit of \d+ MiB reached/ },
} as const;

/** The hard ways for the threads that pods wait for; a plain end is enough to see that one is joined again. */
const FAULTS: [Case["thread"], Case["fault"]][] = [
  ...(["pleg", "server"] as const).flatMap((thread) =>
    (["terminate", "hang", "heap"] as const).map((fault): [Case["thread"], Case["fault"]] => [thread, fault]),
  ),
  ["image-gc", "terminate"],
];
const CASES: Case[] = FAULTS.map(([thread, fault]) => ({ thread, fault, ...CAUSES[fault] }));
const BYSTANDERS = ["calm-0", "calm-1", "calm-2"];

describe("a thread that fails", () => {
  let node: TestNode;
  let ctl: string;
  let calm: Record<string, string>;
  let pid: number | undefined;

  before(async () => {
    node = await startNode({ env: { NODELET_FAULTS: "1" } });
    ctl = await controlFolder(node);
    for (const name of BYSTANDERS) await node.writeManifest(name, sleeper(name));
    for (const { thread, fault } of CASES) {
      await node.writeManifest(`old-${thread}-${fault}`, waiter(`old-${thread}-${fault}`, ctl));
    }
    const all = BYSTANDERS.concat(CASES.map(({ thread, fault }) => `old-${thread}-${fault}`));
    const pods = await node.waitFor((seen) => all.every((name) => runs(seen, name)), {
      what: "the pods to run",
      timeoutMs: PATIENCE_MS,
    });
    calm = identities(pods, BYSTANDERS);
    pid = node.kubelet.pid;
  });
  after(() => node.stop());

  for (const { thread, fault, cause, reason } of CASES) {
    test(`${thread}: ${fault}`, { timeout: 3 * PATIENCE_MS * PATIENCE }, async () => {
      const logged = (await agentLog(node)).length;
      const since = async (): Promise<AgentLogLine[]> => (await agentLog(node)).slice(logged);
      await order(node, `${fault} ${thread}`);
      const exit = await waitFor(async () => (await since()).find(isExitOf(thread)), {
        what: `the ${thread} thread to end`,
        timeoutMs: PATIENCE_MS,
      });
      assert.equal(exit.cause, cause);
      assert.match(exit.msg, reason);
      await waitFor(
        async () => (await since()).some(({ msg, thread: of }) => msg === "thread running" && of === thread),
        {
          what: `the ${thread} thread to run again`,
          timeoutMs: PATIENCE_MS,
        },
      );
      await waitFor(() => metric(node, "nodelet_thread_restarts_total", { thread, reason: cause }), {
        what: "the restart to be counted",
        timeoutMs: PATIENCE_MS,
      });

      // A pod from before the fault terminates, and a new pod starts.
      const [old, fresh] = [`old-${thread}-${fault}`, `new-${thread}-${fault}`];
      await letExit(ctl, old, EXIT_CODE);
      await node.writeManifest(fresh, waiter(fresh, ctl));
      await node.waitFor((pods) => runs(pods, fresh), { what: `${fresh} to run`, timeoutMs: PATIENCE_MS });
      await letExit(ctl, fresh, EXIT_CODE);
      const pods = await node.waitFor((seen) => [old, fresh].every((name) => restartedOnce(seen, name)), {
        what: `${old} and ${fresh} to be started again after their exits`,
        timeoutMs: PATIENCE_MS,
      });
      assert.deepEqual(identities(pods, BYSTANDERS), calm);
      assert.equal(node.kubelet.pid, pid, "the agent is the same process");
      assert.equal((await since()).filter(isExitOf(thread)).length, 1, "the thread failed once");
    });

    function restartedOnce(pods: Parameters<typeof firstStatus>[0], name: string): boolean {
      const status = firstStatus(pods, name);
      return status?.restartCount === 1 && status.lastState.terminated?.exitCode === EXIT_CODE && runs(pods, name);
    }
  }
});

describe("a server thread that ends more often than any cap", () => {
  /** More than the ten restarts after which the process would end if pleg failed like this. */
  const ENDS = 11;
  let node: TestNode;

  before(async () => {
    node = await startNode({ env: { NODELET_FAULTS: "1" } });
    await node.writeManifest("calm", sleeper("calm"));
    await node.waitFor((pods) => runs(pods, "calm"), { what: "the pod to run", timeoutMs: PATIENCE_MS });
  });
  after(() => node.stop());

  test(
    "is restarted with back-off; the process and its pods go on",
    { timeout: 4 * PATIENCE_MS * PATIENCE },
    async () => {
      const { pid } = node.kubelet;
      const calm = identities(await node.pods(), ["calm"]);
      const running = async (): Promise<number> =>
        (await agentLog(node)).filter(({ msg, thread }) => msg === "thread running" && thread === "server").length;
      for (let ends = 1; ends <= ENDS; ends++) {
        await order(node, "terminate server");
        await waitFor(async () => (await running()) > ends, {
          what: `the server thread to run after end ${ends}`,
          timeoutMs: PATIENCE_MS,
        });
      }
      await waitFor(async () => (await metric(node, "nodelet_thread_restarts_total", { thread: "server" })) === ENDS, {
        what: "the restarts to be counted",
        timeoutMs: PATIENCE_MS,
      });
      assert.equal(node.kubelet.pid, pid);
      assert.deepEqual(identities(await node.pods(), ["calm"]), calm);
    },
  );
});

/** The fault hook's two steps, see src/main/kubelet/thread-owner.ts. */
async function order(node: TestNode, text: string): Promise<void> {
  const { pid } = node.kubelet;
  assert.ok(pid !== undefined, "the agent runs");
  await writeFile(join(node.kubelet.rootDir, "nodelet", "fault"), text);
  process.kill(pid, "SIGUSR2");
}

function isExitOf(thread: string): (line: AgentLogLine) => boolean {
  return (line) => line.severity === "error" && line.thread === thread && line.msg.startsWith("thread exited");
}
