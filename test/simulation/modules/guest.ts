// A worker that lives in another worker's thread (src/shared/thread/guest.ts): where the agent's ends the process's
// thread, this one ends the simulated thread.

import type { MessagePort } from "node:worker_threads";
import type { Clock } from "../../../src/shared/base/clock/clock.js";
import type { SupervisorMessage, ThreadInit } from "../../../src/shared/contracts/thread.js";
import { WorkerLife, type StartWorker } from "../../../src/shared/thread/worker-life.js";
import { kernel } from "../kernel/kernel.js";
import { hostOf } from "../world/threads.js";

export function runGuest<Control extends object, Init, Upcalls extends object>(
  data: ThreadInit<Init>,
  port: MessagePort,
  start: StartWorker<Control, Init, Upcalls>,
  clock: Clock,
): void {
  const thread = hostOf(kernel.current);
  const onGivenUp = (): void => thread.exit(1);
  // The ports of a thread that has ended close.
  kernel.current.onDeath(() => {
    for (const open of [port, data.control, data.upcalls]) open.close();
  });
  port.once("close", onGivenUp);
  const life = new WorkerLife(data.name, data, {
    post: (message) => port.postMessage(message),
    onMessage: (listener) => void port.on("message", (message: SupervisorMessage) => listener(message)),
    commitFault: (fault) => thread.commitFault(fault),
    exit(code) {
      if (code !== 0) {
        thread.exit(code);
        return;
      }
      port.off("close", onGivenUp);
      for (const open of [port, data.control, data.upcalls]) open.close();
    },
    log: thread.log,
    clock,
  });
  void life.launch(start, () => Promise.resolve(undefined));
}
