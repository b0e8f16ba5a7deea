// Faults of threads as the fault tests order them, and what the kubelet's log says of a thread's end.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { waitFor, type TestNode } from "../harness/node.js";
import { agentLog, PATIENCE_MS, type AgentLogLine } from "./fault-node.js";

export const THREAD_RUNS = "thread running";

export function isThreadExit({ msg }: AgentLogLine): boolean {
  return msg.startsWith("thread exited");
}

/** The fault hook's two steps, see src/main/kubelet/thread-owner.ts. */
export async function orderFault(node: TestNode, text: string): Promise<void> {
  const { pid } = node.kubelet;
  assert.ok(pid !== undefined, "the agent runs");
  await writeFile(join(node.kubelet.rootDir, "nodelet", "fault"), text);
  process.kill(pid, "SIGUSR2");
}

export interface HandlerFault {
  /** As in src/shared/base/faults/fault-points.ts. */
  point: string;
  thread: string;
  /** Brings the handler about; rejects when its work was not done. Absent: it runs all the time. */
  exercise?: (node: TestNode) => Promise<void>;
  /** The thread starts over. */
  ends?: string;
}

/** Main's messages come from every thread: the one whose message was lost starts over. */
export const SENDER = "the sender";

/**
 * Makes a handler throw once, by exercising it. Checks that it works again, and that no other thread than `ends` ended.
 */
export async function throwInHandler(node: TestNode, { point, thread, exercise, ends }: HandlerFault): Promise<void> {
  const logged = (await agentLog(node)).length;
  const since = async (): Promise<AgentLogLine[]> => (await agentLog(node)).slice(logged);
  const has = async (text: string): Promise<boolean> => (await since()).some(({ msg }) => msg === text);
  await orderFault(node, `throw-in ${point} ${thread}`);
  await waitFor(() => has(`fault point ${point} is armed`), { what: "the order", timeoutMs: PATIENCE_MS });
  // One exercise may pass the handler by: a scrape is answered with known figures while another one is open.
  const throws = async (): Promise<boolean> => {
    await exercise?.(node).catch(() => undefined);
    return has(`fault point ${point} throws`);
  };
  await waitFor(throws, { what: "the handler to throw", timeoutMs: PATIENCE_MS });
  if (ends !== undefined) {
    await waitFor(() => has(THREAD_RUNS), { what: "the thread to run again", timeoutMs: PATIENCE_MS });
  }
  await exercise?.(node);
  const exits = (await since()).filter(isThreadExit);
  if (ends === SENDER) assert.equal(exits.length, 1);
  else
    assert.deepEqual(
      exits.map(({ thread: of }) => of),
      ends === undefined ? [] : [ends],
    );
  if (point === "thread-message") assert.equal(exits[0]?.cause, "message-lost");
}
