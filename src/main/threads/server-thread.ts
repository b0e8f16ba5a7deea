// A server's thread as main runs it: gets every pod at its start, and changes in order afterwards. Two threads are of this kind: `server`, and
// `secure-server` for port 10250 (docs/adr/0081).
import { transfer } from "comlink";
import type { Pod } from "../../shared/api/pod.js";
import type { Clock } from "../../shared/clock/clock.js";
import type {
  ConfigzBodies,
  PodText,
  ServerControl,
  ServerInit,
  ServerThreadName,
  ServerUpcalls,
} from "../../shared/contracts/server.js";
import type { NodeManifests } from "../../shared/contracts/manifest-facts.js";
import type { Logger } from "../../shared/log/logger.js";
import type { MetricSnapshot } from "../../shared/metrics/snapshot.js";
import { superviseThread, type SupervisedThread } from "./supervisor.js";
import { PodDeltas } from "./pod-deltas.js";
import { PodTexts } from "./pod-texts.js";
import type { SharedTexts } from "./shared-texts.js";
import type { TableOptions, ThreadHost } from "./thread-host.js";
import type { ThreadOwner } from "./thread-owner.js";
import type { PodDelta } from "../model/pod-events.js";

export interface ServerThreadOptions {
  name: ServerThreadName;
  /** By the row of that name. */
  table: TableOptions;
  exited: ThreadHost<ServerThreadName>["exited"];
  init: ServerInit;
  upcalls: ServerUpcalls;
  podTexts: Pick<SharedTexts, "textOf">;
  clock: Clock;
  log: Logger;
  /** Answers from the moment it is there; no thread runs before. */
  owner: Promise<Pick<ThreadOwner, "pods">>;
}

const CLOSED: Readonly<Record<ServerThreadName, string>> = {
  server: "/healthz, the read-only port and the admin socket are closed",
  "secure-server": "the authenticated port is closed",
};

/** The buffers that move to the thread. */
function bytesOf({ definition }: PodText): ArrayBuffer[] {
  return definition === undefined || typeof definition.text === "string" ? [] : [definition.text.buffer];
}

export class ServerThread {
  readonly thread: SupervisedThread<ServerControl>;
  private readonly deltas: PodDeltas<Pod, PodText>;
  private readonly texts: PodTexts;
  private configz: ConfigzBodies;
  private devicePluginProblem: string;
  private manifests: NodeManifests;

  constructor(private readonly options: ServerThreadOptions) {
    const { name } = options;
    this.texts = new PodTexts(options.podTexts);
    this.configz = options.init.configz;
    this.devicePluginProblem = options.init.devicePluginProblem;
    this.manifests = options.init.manifests;
    const { texts } = this;
    this.deltas = new PodDeltas({
      thread: name,
      encode: (pod) => {
        const item = texts.textOf(pod);
        return { item, size: item.status.length + (item.definition?.text.length ?? 0) };
      },
      send: (set, removed) => {
        for (const uid of removed) texts.forget(uid);
        return this.thread.call.applyPods(transfer({ set, removed }, set.flatMap(bytesOf)));
      },
      unsure: (uid) => texts.forget(uid),
      clock: options.clock,
      log: options.log,
    });
    this.thread = superviseThread<ServerControl, ServerInit, ServerUpcalls>({
      ...options.table,
      init: () => {
        const { configz, devicePluginProblem, manifests } = this;
        return { ...options.init, configz, devicePluginProblem, manifests };
      },
      upcalls: options.upcalls,
      onRunning: async (thread) => {
        const owner = await options.owner;
        await this.deltas.join(
          () => {
            texts.reset();
            return thread.call.startPods();
          },
          () => owner.pods().map((pod) => [pod.metadata.uid, pod] as const),
        );
        // Changes from the start of the thread to here were only kept.
        await thread.call.setManifests(this.manifests);
        await thread.call.openPorts();
      },
      onExit: (exit) => {
        this.deltas.leave();
        options.exited(exit);
        if (exit.cause !== "drained") {
          options.log.warn(`${CLOSED[name]} until the ${name} thread runs again`);
        }
      },
    });
  }

  get podsBehind(): number {
    return this.deltas.behind;
  }

  publish(delta: PodDelta): void {
    this.deltas.change(
      delta.set.map((pod) => [pod.metadata.uid, pod] as const),
      delta.removed,
    );
  }

  /** The configuration was changed in place. A thread that does not accept it gets it at its next start. */
  setConfigz(bodies: ConfigzBodies): void {
    this.configz = bodies;
    if (!this.deltas.joined) return;
    this.thread.call.setConfigz(bodies).catch((error: unknown) => {
      this.options.log.warn(
        { err: error },
        `the ${this.options.name} thread did not accept the changed configuration for /configz`,
      );
    });
  }

  /**
   * The reason why device plugins cannot register; "": they can. A thread that does not accept it gets it at its next
   * start.
   */
  setDevicePluginProblem(problem: string): void {
    this.devicePluginProblem = problem;
    if (!this.deltas.joined) return;
    this.thread.call.setDevicePluginProblem(problem).catch((error: unknown) => {
      this.options.log.warn(
        { err: error },
        `the ${this.options.name} thread did not accept the state of device plugins for /healthz`,
      );
    });
  }

  /** The manifests of static pods. A thread that does not accept them gets them at its next start. */
  setManifests(list: NodeManifests): void {
    this.manifests = list;
    if (!this.deltas.joined) return;
    this.thread.call.setManifests(list).catch((error: unknown) => {
      this.options.log.warn(
        { err: error },
        `the ${this.options.name} thread did not accept the list of manifests for nodelet status`,
      );
    });
  }

  async metrics(): Promise<MetricSnapshot[]> {
    return [await this.thread.call.metrics()];
  }

  stop(): Promise<void> {
    return this.thread.stop();
  }
}
