// Context of a verb of the fake besides its request, and the types of the verb tables.

import type {
  ContainerConfig,
  ImageServiceService,
  RuntimeFeatures,
  RuntimeHandler,
  RuntimeServiceService,
} from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { FakeRegistryEntry } from "./images.js";
import type { FakeContainer, FakeState } from "./state.js";

type Definitions = typeof RuntimeServiceService & typeof ImageServiceService;
type UnaryMethod = {
  [Method in keyof Definitions]: Definitions[Method] extends { responseStream: false } ? Method : never;
}[keyof Definitions];

type RequestOf<Method extends UnaryMethod> = Parameters<Definitions[Method]["requestSerialize"]>[0];
type ResponseOf<Method extends UnaryMethod> = Parameters<Definitions[Method]["responseSerialize"]>[0];

/** One call being served. */
export interface ServedCall {
  /** Aborts when the caller gives up. */
  signal: AbortSignal;
  /** Waits until the time is over or `until` aborts; throws CANCELLED when the caller gives up first. */
  sleep(ms: number, until?: AbortSignal): Promise<void>;
}

/** A table of unary verbs: request in, full reply message out; a Fault thrown becomes the call's status. */
export type UnaryVerbs<Method extends UnaryMethod = UnaryMethod> = {
  [M in Method]: (request: RequestOf<M>, call: ServedCall) => ResponseOf<M> | Promise<ResponseOf<M>>;
};

interface ExecResult {
  exitCode?: number;
  stdout?: string;
  stderr?: string;
  /** Duration of the command, milliseconds. */
  runMs?: number;
}

/** Says why a call finds no room on the runtime's disks; undefined: it has room. */
export interface FakeRoom {
  pull(reference: string, bytes: number): string | undefined;
  /** `isLeft`: the sandbox is there afterwards, and not ready. */
  sandbox(id: string): { why: string; isLeft: boolean } | undefined;
  container(id: string): string | undefined;
}

/** Settings that tests may change while the fake runs. */
export interface FakeSettings {
  runtimeName: string;
  runtimeVersion: string;
  runtimeReady: boolean;
  networkReady: boolean;
  /** Mount point that ImageFsInfo names. */
  imageStore: string;
  /** Mount point that ImageFsInfo names for containers; absent: none. */
  containerStore?: string;
  /** Bytes and inodes of a container's writable layer; absent: a few. */
  layerOf?: (container: FakeContainer) => { bytes: number; inodes: number };
  /** ReopenContainerLog opens the container's log anew; absent: it does nothing. */
  reopenLog?: (container: FakeContainer) => void;
  /** undefined: RuntimeConfig is Unimplemented, as with containerd before 2.0. */
  cgroupDriver: "systemd" | "cgroupfs" | undefined;
  /** Handlers in the Status reply; none by default, as with containerd before 1.7. */
  runtimeHandlers: RuntimeHandler[];
  /** Behaviour of a command run by ExecSync; by default it succeeds at once without output. */
  exec: (containerId: string, command: readonly string[]) => ExecResult;
  /** Makes the address of a stream; absent: one at which nothing listens. @throws Fault */
  stream?: (kind: "exec" | "attach" | "portForward", request: object) => string;
  /** Says why a container cannot start, e.g. "exec: /nope: no such file or directory"; by default all can. */
  startFails: (config: ContainerConfig) => string | undefined;
  /** The status of a container names the digests of its mounted images; no containerd up to 2.1 does. */
  mountDigests: boolean;
  /** Features in the Status reply; undefined, as with containerd before 2.0. */
  features: RuntimeFeatures | undefined;
  /** Images that PullImage finds, by reference. */
  registry: Map<string, FakeRegistryEntry>;
  /** Takes the time of a pull, or fails with a Fault; absent: the image's `pullMs`. */
  fetch?: (reference: string, sleep: (ms: number) => Promise<void>) => Promise<void>;
  /** Absent: there is always room. StartContainer has `startFails`. */
  room?: FakeRoom;
}

export interface FakeWorld {
  readonly state: FakeState;
  readonly settings: FakeSettings;
}
