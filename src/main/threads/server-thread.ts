// A server's thread as main runs it: gets every pod at its start, and changes in order afterwards. Two threads are of
// this kind: `server`, and `secure-server` for port 10250 (docs/adr/0081).

import { transfer } from "comlink";
import type { Clock } from "../../shared/base/clock/clock.js";
import type { LoopShare } from "../../shared/base/turns/loop-share.js";
import type { NodeManifests } from "../../shared/contracts/manifest-facts.js";
import type {
  ConfigzBodies,
  PodText,
  ServerControl,
  ServerInit,
  ServerThreadName,
  ServerUpcalls,
} from "../../shared/contracts/server.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { MetricSnapshot } from "../../shared/telemetry/metrics/snapshot.js";
import type { PodDelta } from "../model/pod-delta.js";
import { PodDeltas } from "./pod-deltas.js";
import { PodTexts } from "./pod-texts.js";
import { superviseThread, type SupervisedThread } from "./supervisor.js";
import type { TableOptions, ThreadHost } from "./thread-host.js";
import type { ThreadOwner } from "./thread-owner.js";
import { ThreadValues } from "./thread-values.js";

export interface ServerThreadOptions {
  name: ServerThreadName;
  /** By the row of that name. */
  table: TableOptions;
  exited: ThreadHost<ServerThreadName>["exited"];
  init: ServerInit;
  upcalls: Omit<ServerUpcalls, "sendPods">;
  podTurns: Pick<LoopShare, "turn">;
  clock: Clock;
  log: Logger;
  /** Answers from the moment it is there; no thread runs before. */
  owner: Promise<Pick<ThreadOwner, "pods">>;
}

/** A request that needs the newest pods asks for them, so only watchers see pods of this age. */
const COLLECT_MS = 250;

const CLOSED: Readonly<Record<ServerThreadName, string>> = {
  server: "/healthz, the read-only port and the admin socket are closed",
  "secure-server": "the authenticated port is closed",
};

type LateValues = Pick<ServerInit, "configz" | "devicePluginProblem" | "manifests">;

const NAMES: Readonly<Record<keyof LateValues, string>> = {
  configz: "the changed configuration for /configz",
  devicePluginProblem: "the state of device plugins for /healthz",
  manifests: "the list of manifests for nodelet status",
};

/** The buffers that move to the thread. */
function bytesOf({ definition }: PodText): ArrayBuffer[] {
  return definition === undefined || typeof definition.text === "string" ? [] : [definition.text.buffer];
}

export class ServerThread {
  readonly thread: SupervisedThread<ServerControl>;
  private readonly deltas: PodDeltas<Pod, PodText>;
  private readonly texts: PodTexts;
  private readonly values: ThreadValues<LateValues>;

  constructor(options: ServerThreadOptions) {
    const { name } = options;
    this.texts = new PodTexts();
    const { configz, devicePluginProblem, manifests } = options.init;
    const setters: { [Key in keyof LateValues]: (value: LateValues[Key]) => Promise<void> } = {
      configz: (value) => this.thread.call.setConfigz(value),
      devicePluginProblem: (value) => this.thread.call.setDevicePluginProblem(value),
      manifests: (value) => this.thread.call.setManifests(value),
    };
    this.values = new ThreadValues<LateValues>({
      first: { configz, devicePluginProblem, manifests },
      send: (key, value) => setters[key](value),
      names: NAMES,
      thread: name,
      log: options.log,
    });
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
      collectMs: COLLECT_MS,
      turns: options.podTurns,
      unsure: (uid) => texts.forget(uid),
      clock: options.clock,
      log: options.log,
    });
    this.thread = superviseThread<ServerControl, ServerInit, ServerUpcalls>({
      ...options.table,
      init: () => ({ ...options.init, ...this.values.forInit() }),
      upcalls: { ...options.upcalls, sendPods: () => this.deltas.sendNow() },
      onRunning: async (thread) => {
        const owner = await options.owner;
        await this.deltas.join(
          () => {
            texts.reset();
            return thread.call.startPods();
          },
          () => owner.pods().map((pod) => [pod.metadata.uid, pod] as const),
        );
        await this.values.join();
        await thread.call.openPorts();
      },
      onExit: (exit) => {
        this.deltas.leave();
        this.values.leave();
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

  /** The configuration was changed in place. */
  setConfigz(bodies: ConfigzBodies): void {
    this.values.set("configz", bodies);
  }

  /** The reason why device plugins cannot register; "": they can. */
  setDevicePluginProblem(problem: string): void {
    this.values.set("devicePluginProblem", problem);
  }

  /** The manifests of static pods. */
  setManifests(list: NodeManifests): void {
    this.values.set("manifests", list);
  }

  async metrics(): Promise<MetricSnapshot[]> {
    return [await this.thread.call.metrics()];
  }

  stop(): Promise<void> {
    return this.thread.stop();
  }
}
