// The verbs of CRI: their types, derived from the generated service definitions, and their names in metrics.

import type { DeepPartial, ImageServiceService, RuntimeServiceService } from "./gen/runtime.v1.js";

type Definitions = typeof RuntimeServiceService & typeof ImageServiceService;

/** A client method's name: "runPodSandbox". @internal */
export type CriMethod = keyof Definitions;
/** An rpc's name: "RunPodSandbox". */
export type CriVerb = Capitalize<CriMethod>;

/** The part of a generated method definition that a client uses. */
export interface MethodDefinition<Request, Response, Streaming extends boolean> {
  readonly path: string;
  readonly requestStream: false;
  readonly responseStream: Streaming;
  requestSerialize(value: Request): Buffer;
  responseDeserialize(value: Buffer): Response;
}

export interface CallOptions {
  /** Replaces the verb's own deadline, milliseconds, waiting in the queue included. */
  deadlineMs?: number;
  /**
   * An abort gives the call up, in the queue and in the runtime: it rejects with CriCancelledError. A creating call
   * that was sent gets finishMsOf() to finish first, and then settles with the runtime's reply.
   */
  signal?: AbortSignal;
  /** The call goes before those that wait for a place of its verb. */
  urgent?: boolean;
  /** The call has its place and is sent now. */
  onSent?: () => void;
}

export type UnaryCall<Request, Response> = (request: DeepPartial<Request>, options?: CallOptions) => Promise<Response>;
/** The stream opens when it is first read, and is cancelled when reading stops. */
export type StreamCall<Request, Response> = (
  request: DeepPartial<Request>,
  options?: CallOptions,
) => AsyncIterable<Response>;

type CallOf<Definition> =
  Definition extends MethodDefinition<infer Request, infer Response, infer Streaming>
    ? Streaming extends true
      ? StreamCall<Request, Response>
      : UnaryCall<Request, Response>
    : never;

/** Every rpc of RuntimeService and ImageService as a typed method. */
export type CriCalls = { readonly [Method in keyof Definitions]: CallOf<Definitions[Method]> };

/** operation_type of kubelet_runtime_operations_total. A list read through its stream counts as the list. */
export const OPERATIONS: Readonly<Record<CriVerb, string>> = {
  Version: "version",
  RunPodSandbox: "run_podsandbox",
  StopPodSandbox: "stop_podsandbox",
  RemovePodSandbox: "remove_podsandbox",
  PodSandboxStatus: "podsandbox_status",
  ListPodSandbox: "list_podsandbox",
  StreamPodSandboxes: "list_podsandbox",
  CreateContainer: "create_container",
  StartContainer: "start_container",
  StopContainer: "stop_container",
  RemoveContainer: "remove_container",
  ListContainers: "list_containers",
  StreamContainers: "list_containers",
  ContainerStatus: "container_status",
  UpdateContainerResources: "update_container",
  ReopenContainerLog: "reopen_container_log",
  ExecSync: "exec_sync",
  Exec: "exec",
  Attach: "attach",
  PortForward: "port_forward",
  ContainerStats: "container_stats",
  ListContainerStats: "list_container_stats",
  StreamContainerStats: "list_container_stats",
  PodSandboxStats: "podsandbox_stats",
  ListPodSandboxStats: "list_podsandbox_stats",
  StreamPodSandboxStats: "list_podsandbox_stats",
  UpdateRuntimeConfig: "update_runtime_config",
  Status: "status",
  CheckpointContainer: "checkpoint_container",
  GetContainerEvents: "get_container_events",
  ListMetricDescriptors: "list_metric_descriptors",
  ListPodSandboxMetrics: "list_podsandbox_metrics",
  StreamPodSandboxMetrics: "list_podsandbox_metrics",
  RuntimeConfig: "runtime_config",
  UpdatePodSandboxResources: "update_podsandbox_resources",
  ListImages: "list_images",
  StreamImages: "list_images",
  ImageStatus: "image_status",
  PullImage: "pull_image",
  RemoveImage: "remove_image",
  ImageFsInfo: "image_fs_info",
};

export function isCriVerb(name: string): name is CriVerb {
  return Object.hasOwn(OPERATIONS, name);
}

/** "/runtime.v1.RuntimeService/RunPodSandbox" → "RunPodSandbox". */
export function verbOfPath(path: string): CriVerb {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (!isCriVerb(name)) throw new Error(`"${path}" is not a path of CRI v1`);
  return name;
}
