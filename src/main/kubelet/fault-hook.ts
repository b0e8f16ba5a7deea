// Faults for tests that break a thread inside the real process. They exist only with NODELET_FAULTS=1 in the
// environment. SIGUSR2 then makes the kubelet read the file <rootDir>/nodelet/fault, which holds one line
// `<fault> <thread>`:
//
//   terminate pleg      the supervisor ends the thread, as a crash would
//   hang server         the thread enters a busy loop
//   throw-timer main    an error that no caller catches, in a timer; throw-tick: in a callback; reject: in a promise
//   throw-in cri-reply main
//                       the next pass through a handler of that kind throws (shared/base/faults/fault-points.ts)
//   heap pleg           the thread fills its heap up to the limit
//   hang main           main itself enters a busy loop, from which only SIGKILL delivers
//
// Invariant: without the variable no handler is installed and nothing here has any effect.

import { join } from "node:path";
import type { Clock } from "../../shared/base/clock/clock.js";
import { FAULT_POINTS } from "../../shared/base/faults/fault-points.js";
import { UNCAUGHT_FAULTS } from "../../shared/base/faults/thread-fault.js";
import { quote } from "../../shared/base/text/quote.js";
import { readRegularText } from "../../shared/io/fs/regular-file.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import { commitFault } from "../../shared/thread/faults.js";
import type { Breakable } from "../threads/breakable.js";
import type { NodeThreads } from "../threads/node-threads.js";
import { THREADS } from "../threads/thread-context.js";

export interface FaultHookDeps {
  rootDir: string;
  threads: Pick<NodeThreads, "breakable">;
  clock: Clock;
  log: Logger;
}

const THROWN = [...UNCAUGHT_FAULTS, ...FAULT_POINTS.map((point) => `throw-in ${point}` as const)];

/** Installs the hook if the environment variable is set; returns a function that removes it. */
export function hookFaults(deps: FaultHookDeps): () => void {
  if (process.env["NODELET_FAULTS"] !== "1") return () => undefined;
  const { log } = deps;
  const onSignal = (): void => {
    order(deps).catch((error: unknown) => log.error({ err: error }, "the ordered fault was not committed"));
  };
  process.on("SIGUSR2", onSignal);
  log.warn("NODELET_FAULTS=1: SIGUSR2 injects faults into threads; for tests only");
  return () => process.off("SIGUSR2", onSignal);
}

/** Lets a test break main as it breaks threads. */
function mainThread(clock: Clock, log: Logger): Breakable {
  return {
    terminate: () => Promise.reject(new Error("main is not terminated: that is the end of the process")),
    commitFault: (fault) => commitFault(fault, clock, log),
  };
}

async function order({ rootDir, threads, clock, log }: FaultHookDeps): Promise<void> {
  const path = join(rootDir, "nodelet", "fault");
  const words = (await readRegularText(path)).trim().split(" ");
  const name = words.pop() ?? "";
  const fault = words.join(" ");
  const thread = name === "main" ? mainThread(clock, log) : threads.breakable(name);
  if (thread === undefined) throw new Error(`${path} names no thread of ${THREADS.join(", ")}: ${quote(name)}`);
  log.warn({ fault, thread: name }, `injecting fault: ${fault} ${name}`);
  const thrown = THROWN.find((one) => one === fault);
  if (thrown !== undefined) {
    thread.commitFault(thrown);
    return;
  }
  switch (fault) {
    case "terminate":
      return thread.terminate();
    case "hang":
    case "heap":
      thread.commitFault(fault);
      return;
    default:
      throw new Error(`${path} holds ${quote(fault)}: not one of terminate, hang, heap, ${THROWN.join(", ")}`);
  }
}
