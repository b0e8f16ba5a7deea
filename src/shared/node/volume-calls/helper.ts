// One helper process: a child that makes one call at a time, and can be killed meanwhile. Invariant: every request gets
// a result or an error; `gone` is reported once, when the process has exited.

import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { messageOf } from "../../base/errors/thrown.js";
import { LoopYield } from "../../base/queue/loop-yield.js";
import type { HelperAnswer, HelperRequest } from "./operations.js";

interface HelperEvents {
  answer(answer: HelperAnswer): void;
  gone(why: string): void;
}

export interface Helper {
  ask(request: HelperRequest): void;
  kill(): void;
}

export type StartHelper = (events: HelperEvents) => Helper;

const ENTRY = new URL("../../../workers/tasks/volume-helper.js", import.meta.url);
/** A heap that holds a few requests. */
const NODE_OPTIONS = ["--max-old-space-size=24", "--max-semi-space-size=1"];

/**
 * The last requested fork. A fork holds its thread until the new process runs. So each fork has its own round of the
 * event loop.
 */
let forks: Promise<void> = Promise.resolve();
const loop = new LoopYield();

/** @internal */
export function forkInTurn(fork: () => void): void {
  forks = forks.then(fork).then(() => new Promise((resolve) => loop.next(resolve)));
}

/** The process starts soon; requests until then wait for it. */
export const startHelperProcess: StartHelper = (events) => {
  let helper: Helper | undefined;
  let first: HelperRequest | undefined;
  let killed = false;
  forkInTurn(() => {
    if (killed) {
      events.gone("it was stopped before its start");
      return;
    }
    try {
      helper = forked(events);
      if (first !== undefined) helper.ask(first);
    } catch (error) {
      events.gone(messageOf(error));
    }
  });
  return {
    ask(request) {
      if (helper === undefined) first = request;
      else helper.ask(request);
    },
    kill() {
      killed = true;
      helper?.kill();
    },
  };
};

function forked(events: HelperEvents): Helper {
  const child: ChildProcess = fork(fileURLToPath(ENTRY), [], {
    execArgv: NODE_OPTIONS,
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { UV_THREADPOOL_SIZE: "1", MALLOC_ARENA_MAX: "1" },
  });
  // A helper that waits or hangs keeps no kubelet from its end.
  child.unref();
  child.channel?.unref();
  let isGone = false;
  const gone = (why: string): void => {
    if (isGone) return;
    isGone = true;
    events.gone(why);
  };
  child.on("message", (answer) => events.answer(answer as HelperAnswer));
  child.once("error", (error) => gone(error.message));
  child.once("exit", (code, signal) => gone(signal === null ? `exit ${code ?? "?"}` : `killed by ${signal}`));
  return {
    ask(request) {
      child.send(request, (error) => {
        // Its exit status gives the rest.
        if (error !== null) child.kill("SIGKILL");
      });
    },
    kill: () => void child.kill("SIGKILL"),
  };
}
