// Starts a worker as a guest in another worker's thread (src/shared/thread/guest.ts). When the host ends, so does the
// guest, and their supervisors start both again.
// Invariant: a guest that has to end by force takes its host with it: it ends the thread when its port closes.

import { MessageChannel } from "node:worker_threads";
import { transfer } from "comlink";
import type { GuestHost, WorkerMessage } from "../../shared/contracts/thread.js";
import type { SpawnWorker } from "./spawn-worker.js";
import type { SupervisedThread } from "./supervisor.js";

export function spawnGuest(host: Pick<SupervisedThread<GuestHost>, "name" | "start" | "call">): SpawnWorker {
  return ({ data }, events) => {
    const { port1: port, port2: theirs } = new MessageChannel();
    let hasEnded = false;
    const end = (): void => {
      hasEnded = true;
      port.close();
    };
    port.on("message", (message: WorkerMessage) => {
      if (message.kind === "drained" || message.kind === "fatal") hasEnded = true;
      events.message(message);
    });
    port.once("close", () => {
      if (!hasEnded) events.error(new Error(`the thread ${host.name}, in which it lives, has ended`));
      events.exit(0);
    });
    const invite = async (): Promise<void> => {
      await host.start();
      if (hasEnded) return;
      await host.call.host(transfer({ data, port: theirs }, [theirs, data.control, data.upcalls]));
    };
    invite().catch((error: unknown) => {
      events.error(error);
      end();
    });
    return { post: (message) => port.postMessage(message), terminate: end };
  };
}
