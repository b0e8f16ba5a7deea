// The container runtime of the simulated machine: the fake's state and verbs, without its socket. Containers end as
// their command says.
// Invariant: sandboxes and containers outlive the kubelet and a restart of the runtime; a reboot ends what runs.

import { EventEmitter } from "node:events";
import { Metadata } from "@grpc/grpc-js";
import { codeName } from "../../../src/shared/kubernetes/cri/errors.js";
import {
  ContainerEventType,
  ContainerState,
  ImageServiceService,
  RuntimeServiceService,
} from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { CriMethod, CriVerb } from "../../../src/shared/kubernetes/cri/verbs.js";
import type { FakeSettings } from "../../fake-cri/context.js";
import { Dispatcher } from "../../fake-cri/dispatcher.js";
import { makeImage } from "../../fake-cri/images.js";
import { FakeState, type FakeContainer } from "../../fake-cri/state.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import { ListReplies, LISTS } from "./list-replies.js";
import { encodeListed, type Listing } from "./listed-objects.js";
import { isHealthy, isReady, scriptOf } from "./scripts.js";

const PAUSE_IMAGE = "nodelet.local/pause:1";
export const IMAGES = ["nodelet.local/a:1", "nodelet.local/b:1", "nodelet.local/c:1", "nodelet.local/d:1"];

interface MethodOf {
  requestDeserialize(bytes: Buffer): unknown;
  responseSerialize(value: unknown): Buffer;
  path: string;
}

const METHODS = new Map<string, { name: CriMethod; definition: MethodOf }>();
for (const service of [RuntimeServiceService, ImageServiceService]) {
  for (const [name, definition] of Object.entries<MethodOf>(service as never)) {
    METHODS.set(definition.path, { name: name as CriMethod, definition });
  }
}

export interface Failed {
  code: number;
  details: string;
}

/** The runtime's end of a call. */
export interface Reply {
  message(bytes: Buffer): void;
  end(): void;
  failed(error: Failed): void;
}

/** A call of the kubelet. */
export interface Served {
  cancel(): void;
}

/** Sees each call before it is performed. */
type CallWatcher = (verb: string, request: unknown) => void;

export class SimulatedRuntime {
  readonly state = new FakeState(() => BigInt(Math.round(kernel.wall * 1e6)));
  readonly settings: FakeSettings = {
    runtimeName: "simulated",
    runtimeVersion: "v1.6.20",
    runtimeReady: true,
    networkReady: true,
    imageStore: "/var/lib/containerd",
    cgroupDriver: undefined,
    runtimeHandlers: [],
    exec: (containerId, command) => this.exec(containerId, command),
    startFails: () => undefined,
    mountDigests: false,
    features: undefined,
    registry: new Map(IMAGES.map((name) => [name, {}])),
  };
  readonly watchers = new Set<CallWatcher>();
  /** Sees each unary call's outcome: the name of its code, and what the error says. */
  readonly onEnd = new Set<(verb: string, code: string, request: unknown, details: string) => void>();
  /** Hears of each beginning of a restart, and of a power loss. */
  readonly onDown = new Set<() => void>();
  /** Hears of each end of a restart. */
  readonly onUp = new Set<() => void>();
  readonly failpoints: Dispatcher["failpoints"];
  isUp = true;
  private readonly dispatcher: Dispatcher;
  private readonly lists = new ListReplies();
  private readonly underWay = new Set<{ verb: CriVerb; lose(): void }>();

  constructor({ events }: { events: boolean }) {
    this.dispatcher = new Dispatcher(
      { state: this.state, settings: this.settings },
      { latency: {}, events, listStreams: false, recordCalls: false, panic: () => this.restart(100) },
    );
    this.failpoints = this.dispatcher.failpoints;
    const pause = makeImage(PAUSE_IMAGE, {});
    this.state.images.set(pause.id, pause);
    this.state.eventListeners.add(({ containerId, containerEventType }) => {
      this.lists.changed();
      if (containerEventType !== ContainerEventType.CONTAINER_STARTED_EVENT) return;
      const container = this.state.containers.get(containerId);
      if (container !== undefined) this.started(container);
    });
  }

  /** Calls that were not answered yet. */
  verbsUnderWay(): CriVerb[] {
    return [...this.underWay].map(({ verb }) => verb);
  }

  /** Every call fails from now on, for `ms`. */
  restart(ms: number): void {
    this.isUp = false;
    for (const call of [...this.underWay]) call.lose();
    for (const listener of this.onDown) listener();
    kernel.after(kernel.world, ms, () => {
      this.isUp = true;
      for (const listener of this.onUp) listener();
    });
  }

  /** The machine starts anew: nothing runs, everything is still recorded. */
  reboot(): void {
    for (const call of [...this.underWay]) call.lose();
    for (const listener of this.onDown) listener();
    for (const sandbox of this.state.sandboxes.values()) this.state.endSandbox(sandbox);
  }

  /** Runs as the world. */
  call(path: string, bytes: Buffer, reply: Reply): Served {
    const method = METHODS.get(path);
    if (method === undefined || !this.isUp) {
      reply.failed({ code: 14, details: "connect ECONNREFUSED /run/containerd/containerd.sock" });
      return { cancel: () => undefined };
    }
    const { name, definition } = method;
    const request = definition.requestDeserialize(bytes);
    const verb = path.slice(path.lastIndexOf("/") + 1) as CriVerb;
    for (const watcher of this.watchers) watcher(verb, request);
    if (verb === "StopContainer") this.stopping(request as { containerId: string; timeout: bigint });
    const call = new ServedCall(request, definition, reply);
    const link = {
      verb,
      lose: () => {
        call.emit("cancelled");
        reply.failed({ code: 14, details: "the connection was lost" });
        this.underWay.delete(link);
      },
    };
    this.underWay.add(link);
    const over = (): void => void this.underWay.delete(link);
    call.once("over", over);
    if (METHOD_STREAMS.has(name)) this.dispatcher.stream(name, path)(call as never);
    else {
      const listed = this.lists.begin(verb, bytes);
      this.dispatcher.unary(name, path)(call as never, (error, value) => {
        over();
        const [code, details] = error === null ? ["OK", ""] : [codeName(Number(error.code)), error.details ?? ""];
        for (const listener of this.onEnd) listener(verb, code, request, details);
        if (error !== null) reply.failed(error as unknown as Failed);
        else
          reply.message(
            listed.encoded(() =>
              LISTS.has(verb) ? encodeListed(value as Listing) : definition.responseSerialize(value),
            ),
          );
        listed.end();
      });
    }
    return {
      cancel: () => {
        over();
        call.emit("cancelled");
      },
    };
  }

  private started(container: FakeContainer): void {
    if (this.settings.reopenLog === undefined) writeLog(container.status.logPath);
    const script = scriptOf(container.config);
    if (script.runsMs === Infinity) return;
    kernel.after(kernel.world, script.runsMs, () => this.state.end(container, script.exitCode));
  }

  /** A process that takes its time after SIGTERM. */
  private stopping({ containerId, timeout }: { containerId: string; timeout: bigint }): void {
    const container = this.state.containers.get(containerId);
    if (container?.status.state !== ContainerState.CONTAINER_RUNNING || timeout <= 0n) return;
    const { stopsMs } = scriptOf(container.config);
    container.ignoresTerm = true;
    if (stopsMs === Infinity) return;
    kernel.after(kernel.world, stopsMs, () => this.state.end(container, 143));
  }

  private exec(containerId: string, command: readonly string[]): { exitCode: number; runMs?: number } {
    const container = this.state.containers.get(containerId);
    if (container === undefined) return { exitCode: 1 };
    const [word = "", number = "0"] = command;
    if (word === "hook") return { exitCode: 0, runMs: Number(number) };
    if (word === "live" && !isHealthy(container)) return { exitCode: 1 };
    if (word === "ready" && !isReady(container)) return { exitCode: 1 };
    return { exitCode: 0, runMs: 20 };
  }
}

/** As containerd, which makes the file of the container's output. */
function writeLog(path: string): void {
  const folder = path.slice(0, path.lastIndexOf("/"));
  if (disk.tree.exists(folder) && !disk.tree.exists(path)) disk.file(path, "");
}

const METHOD_STREAMS = new Set<CriMethod>([
  "getContainerEvents",
  "streamContainers",
  "streamPodSandboxes",
  "streamImages",
  "streamContainerStats",
  "streamPodSandboxStats",
  "streamPodSandboxMetrics",
]);

/** Calls of a simulated kubelet bring none. */
const NO_METADATA = new Metadata();

class ServedCall extends EventEmitter {
  readonly metadata = NO_METADATA;

  constructor(
    readonly request: unknown,
    private readonly definition: MethodOf,
    private readonly reply: Reply,
  ) {
    super();
    this.on("error", (error: unknown) => {
      this.emit("over");
      this.reply.failed(error as Failed);
    });
  }
  getDeadline(): Date {
    return new Date(kernel.wall + 120_000);
  }
  write(value: unknown): boolean {
    this.reply.message(this.definition.responseSerialize(value));
    return true;
  }
  end(): void {
    this.emit("over");
    this.reply.end();
  }
}
