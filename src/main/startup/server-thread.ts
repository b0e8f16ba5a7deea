// The server thread as main runs it: gets every pod at its start, and changes in order afterwards.
import type { Pod } from "../../shared/api/pod.js";
import type { ConfigzBodies, ServerControl, ServerInit, ServerUpcalls } from "../../shared/contracts/server.js";
import type { Logger } from "../../shared/log/logger.js";
import type { PodDelta } from "../status/pod-statuses.js";
import { superviseThread, type SupervisedThread } from "../threads/supervisor.js";
import type { ThreadHouse } from "./thread-house.js";
import type { ThreadOwner } from "./thread-owner.js";

export interface ServerThreadOptions {
  house: ThreadHouse;
  init: ServerInit;
  upcalls: ServerUpcalls;
  log: Logger;
  /** Answers from the moment it is there; no thread runs before. */
  owner: Promise<Pick<ThreadOwner, "pods">>;
}

export class ServerThread {
  readonly thread: SupervisedThread<ServerControl>;
  /** Deltas go one after the other; what changes meanwhile is merged into the next. */
  private waiting: { set: Map<string, Pod>; removed: Set<string> } | undefined;
  private sending = false;
  /** The thread has the whole set: from here on it takes deltas. */
  private joined = false;

  private configz: ConfigzBodies;

  constructor(private readonly options: ServerThreadOptions) {
    this.configz = options.init.configz;
    this.thread = superviseThread<ServerControl, ServerInit, ServerUpcalls>({
      ...options.house.common("server"),
      entry: new URL("../../workers/server/index.js", import.meta.url),
      init: () => ({ ...options.init, configz: this.configz }),
      upcalls: options.upcalls,
      onRunning: async (thread) => {
        const owner = await options.owner;
        this.waiting = undefined;
        await thread.call.setPods(owner.pods());
        this.joined = true;
        // What changed while the set was on its way.
        void this.send();
      },
      onExit: (exit) => {
        this.joined = false;
        options.house.exited(exit);
      },
    });
  }

  publish(delta: PodDelta): void {
    this.waiting ??= { set: new Map(), removed: new Set() };
    for (const pod of delta.set) {
      this.waiting.set.set(pod.metadata.uid, pod);
      this.waiting.removed.delete(pod.metadata.uid);
    }
    for (const uid of delta.removed) {
      this.waiting.set.delete(uid);
      this.waiting.removed.add(uid);
    }
    void this.send();
  }

  /** The configuration was changed in place. A thread that does not take it is given it at its next start. */
  setConfigz(bodies: ConfigzBodies): void {
    this.configz = bodies;
    if (!this.joined) return;
    this.thread.call.setConfigz(bodies).catch((error: unknown) => {
      this.options.log.warn({ err: error }, "the server thread did not take the changed configuration for /configz");
    });
  }

  stop(): Promise<void> {
    return this.thread.stop();
  }

  /** A delta that does not arrive is no loss: the thread is being restarted and gets the whole set. */
  private async send(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    try {
      while (this.waiting !== undefined && this.joined) {
        const { set, removed } = this.waiting;
        this.waiting = undefined;
        await this.thread.call.applyPods({ set: [...set.values()], removed: [...removed] });
      }
    } catch (error) {
      this.options.log.warn(
        { err: error },
        "the server thread did not take a pod update; it gets all pods when it is back",
      );
    } finally {
      this.sending = false;
    }
  }
}
