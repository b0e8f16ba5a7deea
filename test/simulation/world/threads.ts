// The worker threads of a simulated kubelet. Each is an owner of its own: it may be killed, or stall, while the others
// run on.

import type { SpawnWorker } from "../../../src/main/threads/spawn-worker.js";
import type { WorkerName } from "../../../src/main/threads/thread-table.js";
import type { Clock } from "../../../src/shared/base/clock/clock.js";
import type { Logger } from "../../../src/shared/telemetry/log/logger.js";
import type { WorkerHost } from "../../../src/shared/thread/worker-life.js";
import { copyOf } from "../../support/copy-of.js";
import { LAUNCHES } from "../../support/one-thread/workers.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import { Owner } from "../kernel/owner.js";

const hosts = new WeakMap<Owner, WorkerHost>();

/** What a worker in this thread has of it. */
export function hostOf(thread: Owner): WorkerHost {
  const host = hosts.get(thread);
  if (host === undefined) throw new Error(`${thread.name} is no thread`);
  return host;
}

interface Running {
  owner: Owner;
  exit(code: number): void;
}

export class SimulatedThreads {
  private readonly running = new Map<string, Running>();

  constructor(
    private readonly process: Owner,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  get names(): string[] {
    return [...this.running.keys()];
  }

  /** The thread dies, as by a full heap. */
  crash(name: string): void {
    this.running.get(name)?.exit(134);
  }

  /** The thread, or each one, runs no callback for `ms`. */
  stall(name: string | undefined, ms: number): void {
    for (const [known, { owner }] of this.running) if (name === undefined || known === name) kernel.stall(owner, ms);
  }

  readonly spawn: SpawnWorker = ({ data }, events) => {
    const { process, running } = this;
    const owner = new Owner(`${process.name} ${data.name}`, process);
    let receive: Parameters<WorkerHost["onMessage"]>[0] = () => undefined;
    const early: Parameters<typeof receive>[0][] = [];
    let isListening = false;
    const exit = (code: number): void => {
      if (!owner.isAlive) return;
      owner.kill();
      // Node closes the files of a thread that ends.
      if (data.name === "secure-server") disk.tree.closeOrphans();
      if (running.get(data.name)?.owner === owner) running.delete(data.name);
      data.control.close();
      data.upcalls.close();
      kernel.post(process, () => events.exit(code));
    };
    running.set(data.name, { owner, exit });
    const host: WorkerHost = {
      post: (message) => {
        const copy = copyOf(message);
        kernel.post(process, () => events.message(copy));
      },
      onMessage: (listener) => {
        receive = listener;
        isListening = true;
        for (const message of early.splice(0)) listener(message);
      },
      commitFault: (fault) => {
        throw new Error(`${data.name} was asked for the fault ${fault}`);
      },
      exit,
      log: this.log,
      clock: this.clock,
    };
    hosts.set(owner, host);
    const init: unknown = copyOf(data.init);
    kernel.post(owner, () => LAUNCHES[data.name as WorkerName]({ ...data, init }, host));
    return {
      post(message) {
        const copy = copyOf(message);
        kernel.post(owner, () => {
          if (isListening) receive(copy);
          else early.push(copy);
        });
      },
      terminate: () => exit(1),
    };
  };
}
