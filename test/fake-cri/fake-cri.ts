// An in-memory CRI v1 runtime on a real unix socket: for speed, faults and scale. It keeps honest state, but runs no
// process. stop() and start() are a runtime restart: connections drop, state stays, time stamps go on.

import { Server, type ServiceDefinition, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { ImageServiceService, RuntimeServiceService } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { CriMethod, CriVerb } from "../../src/shared/kubernetes/cri/verbs.js";
import type { FakeCall } from "./call-log.js";
import type { FakeSettings } from "./context.js";
import { Dispatcher } from "./dispatcher.js";
import type { FailpointMatch } from "./failpoints.js";
import { makeImage, type FakeRegistryEntry } from "./images.js";
import { Listener } from "./listener.js";
import { FakeState } from "./state.js";

/** Present in every fake unless `images` says otherwise. */
const DEFAULT_IMAGES: readonly string[] = ["nodelet.local/busybox:1", "nodelet.local/pause:1"];

export interface FakeCriOptions extends Partial<Omit<FakeSettings, "registry">> {
  /** Path of the socket; its directory must exist. */
  socketPath: string;
  /** Milliseconds that each call of a verb takes before anything happens. */
  latency?: Partial<Record<CriVerb, number>>;
  /** Offer GetContainerEvents, as containerd 1.7 does; default no. */
  events?: boolean;
  /** Offer the Stream* lists; default no. */
  listStreams?: boolean;
  /** Images present at the start, by reference. */
  images?: readonly string[];
  /** Images that can be pulled, by reference. */
  registry?: Readonly<Record<string, FakeRegistryEntry>>;
  /** Wall time of time stamps; default the machine's. */
  nowNanos?: () => bigint;
  /** Keep the call log; default yes. Turn off for long runs. */
  recordCalls?: boolean;
}

export interface FakeCri {
  /** "unix://…" */
  readonly endpoint: string;
  readonly state: FakeState;
  /** Changes take effect with the next call. */
  readonly settings: FakeSettings;
  /** Every call so far; empty it with `calls.length = 0`. */
  readonly calls: FakeCall[];
  /** The container's process ends. */
  exit(containerId: string, exitCode: number, reason?: string): void;
  /** The sandbox's pause process dies, and its containers with it. */
  killSandbox(sandboxId: string): void;
  /** From now on only SIGKILL, after the grace, ends this container. */
  ignoreTerm(containerId: string, ignores?: boolean): void;
  /** See failpoints.ts; "off" clears, a new spec with the same match replaces (and lets hung calls go on). */
  failpoint(verb: CriVerb, spec: string, match?: FailpointMatch): void;
  addImage(reference: string, entry?: FakeRegistryEntry): void;
  /** Drops every connection and stops listening, as a crash does; state stays. */
  stop(): Promise<void>;
  /** Listens again after stop(). */
  start(): Promise<void>;
}

export async function startFakeCri(options: FakeCriOptions): Promise<FakeCri> {
  const { socketPath, latency = {}, events = false, listStreams = false, recordCalls = true } = options;
  const state = new FakeState(options.nowNanos);
  const settings: FakeSettings = {
    runtimeName: options.runtimeName ?? "fake",
    runtimeVersion: options.runtimeVersion ?? "v1.6.20",
    runtimeReady: options.runtimeReady ?? true,
    networkReady: options.networkReady ?? true,
    imageStore: options.imageStore ?? "/var/lib/fake-cri",
    cgroupDriver: options.cgroupDriver,
    runtimeHandlers: options.runtimeHandlers ?? [],
    exec: options.exec ?? (() => ({})),
    startFails: options.startFails ?? (() => undefined),
    mountDigests: options.mountDigests ?? false,
    features: options.features,
    registry: new Map(Object.entries(options.registry ?? {})),
  };
  const addImage = (reference: string, entry?: FakeRegistryEntry): void => {
    const image = makeImage(reference, entry);
    state.images.set(image.id, image);
  };
  for (const reference of options.images ?? DEFAULT_IMAGES) addImage(reference);

  const listener = new Listener(socketPath);
  // A stop() that comes while a panic restarts the runtime has the last word.
  let wanted: "up" | "down" = "up";
  const start = (): Promise<void> => {
    wanted = "up";
    return listener.start(makeServer(dispatcher));
  };
  const stop = (): Promise<void> => {
    wanted = "down";
    return listener.stop();
  };
  const panic = (): void => {
    void listener.stop().then(() => (wanted === "up" ? start() : undefined));
  };
  const dispatcher = new Dispatcher({ state, settings }, { latency, events, listStreams, recordCalls, panic });
  await start();
  return {
    endpoint: `unix://${socketPath}`,
    state,
    settings,
    calls: dispatcher.calls,
    exit: (id, exitCode, reason) => state.end(state.container(id), exitCode, reason),
    killSandbox: (id) => state.endSandbox(state.sandbox(id)),
    ignoreTerm: (id, ignores = true) => {
      state.container(id).ignoresTerm = ignores;
    },
    failpoint: (verb, spec, match) => dispatcher.failpoints.set(verb, spec, match),
    addImage,
    stop,
    start,
  };
}

function makeServer(dispatcher: Dispatcher): Server {
  const server = new Server({ "grpc.enable_channelz": 0, "grpc.max_receive_message_length": 16 * 1024 * 1024 });
  const services: ServiceDefinition[] = [RuntimeServiceService, ImageServiceService];
  for (const service of services) {
    const implementation: UntypedServiceImplementation = {};
    for (const [name, definition] of Object.entries(service)) {
      const method = name as CriMethod;
      implementation[name] = definition.responseStream
        ? dispatcher.stream(method, definition.path)
        : dispatcher.unary(method, definition.path);
    }
    server.addService(service, implementation);
  }
  return server;
}
