// The CRI client: every rpc of RuntimeService and ImageService as a typed method with deadline, abort, limit and
// checks. Loading this file loads gRPC; threads that only need types or error classes import verbs.ts, errors.ts or
// gen/ types.

import { Caller, type CriClientOptions } from "./caller.js";
import { withUsableName } from "./executable-name.js";
import {
  AttachRequest,
  CheckpointContainerRequest,
  ContainerStatsRequest,
  ContainerStatusRequest,
  CreateContainerRequest,
  ExecRequest,
  ExecSyncRequest,
  GetEventsRequest,
  ImageFsInfoRequest,
  ImageServiceService as image,
  ImageStatusRequest,
  ListContainerStatsRequest,
  ListContainersRequest,
  ListImagesRequest,
  ListMetricDescriptorsRequest,
  ListPodSandboxMetricsRequest,
  ListPodSandboxRequest,
  ListPodSandboxStatsRequest,
  PodSandboxStatsRequest,
  PodSandboxStatusRequest,
  PortForwardRequest,
  PullImageRequest,
  RemoveContainerRequest,
  RemoveImageRequest,
  RemovePodSandboxRequest,
  ReopenContainerLogRequest,
  RunPodSandboxRequest,
  RuntimeConfigRequest,
  RuntimeServiceService as runtime,
  StartContainerRequest,
  StatusRequest,
  StopContainerRequest,
  StopPodSandboxRequest,
  StreamContainerStatsRequest,
  StreamContainersRequest,
  StreamImagesRequest,
  StreamPodSandboxMetricsRequest,
  StreamPodSandboxStatsRequest,
  StreamPodSandboxesRequest,
  UpdateContainerResourcesRequest,
  UpdatePodSandboxResourcesRequest,
  UpdateRuntimeConfigRequest,
  VersionRequest,
} from "./gen/runtime.v1.js";
import { listsByParts } from "./lists-by-parts.js";
import {
  checkContainerStatus,
  checkCreateContainer,
  checkImageStatus,
  checkPodSandboxStatus,
  checkPullImage,
  checkRunPodSandbox,
  checkStatus,
  checkUrl,
} from "./reply-checks.js";
import { streamedLists } from "./streamed-lists.js";
import type { CriCalls } from "./verbs.js";

export type { CriClientOptions } from "./caller.js";
/** Unary rpcs return a promise of the reply, streams an async iterable; failures are CriErrors (errors.ts). */
export interface CriClient extends CriCalls {
  /** Closes the connection. Calls in flight fail with CriUnavailableError or CriCancelledError. */
  close(): void;
}

const EXEC_FAILED = "failed to exec in container";

/**
 * Connects on the first call. An absent socket is no error here: calls fail with CriUnavailableError until it is there.
 */
export function createCriClient(options: CriClientOptions): CriClient {
  const caller = new Caller(options);
  const { endpoint } = options;
  const calls: CriCalls = {
    version: caller.unary(runtime.version, VersionRequest),
    runPodSandbox: caller.unary(runtime.runPodSandbox, RunPodSandboxRequest, checkRunPodSandbox),
    stopPodSandbox: caller.unary(runtime.stopPodSandbox, StopPodSandboxRequest),
    removePodSandbox: caller.unary(runtime.removePodSandbox, RemovePodSandboxRequest),
    podSandboxStatus: caller.unary(runtime.podSandboxStatus, PodSandboxStatusRequest, checkPodSandboxStatus),
    listPodSandbox: caller.unary(runtime.listPodSandbox, ListPodSandboxRequest),
    streamPodSandboxes: caller.stream(runtime.streamPodSandboxes, StreamPodSandboxesRequest),
    createContainer: withUsableName(
      caller.unary(runtime.createContainer, CreateContainerRequest, checkCreateContainer),
      ({ config }) => config?.command,
      { verb: "CreateContainer", endpoint, failed: "unable to start container process" },
    ),
    startContainer: caller.unary(runtime.startContainer, StartContainerRequest),
    stopContainer: caller.unary(runtime.stopContainer, StopContainerRequest),
    removeContainer: caller.unary(runtime.removeContainer, RemoveContainerRequest),
    listContainers: caller.unary(runtime.listContainers, ListContainersRequest),
    streamContainers: caller.stream(runtime.streamContainers, StreamContainersRequest),
    containerStatus: caller.unary(runtime.containerStatus, ContainerStatusRequest, checkContainerStatus),
    updateContainerResources: caller.unary(runtime.updateContainerResources, UpdateContainerResourcesRequest),
    reopenContainerLog: caller.unary(runtime.reopenContainerLog, ReopenContainerLogRequest),
    execSync: withUsableName(caller.unary(runtime.execSync, ExecSyncRequest), ({ cmd }) => cmd, {
      verb: "ExecSync",
      endpoint,
      failed: EXEC_FAILED,
    }),
    exec: withUsableName(caller.unary(runtime.exec, ExecRequest, checkUrl), ({ cmd }) => cmd, {
      verb: "Exec",
      endpoint,
      failed: EXEC_FAILED,
    }),
    attach: caller.unary(runtime.attach, AttachRequest, checkUrl),
    portForward: caller.unary(runtime.portForward, PortForwardRequest, checkUrl),
    containerStats: caller.unary(runtime.containerStats, ContainerStatsRequest),
    listContainerStats: caller.unary(runtime.listContainerStats, ListContainerStatsRequest),
    streamContainerStats: caller.stream(runtime.streamContainerStats, StreamContainerStatsRequest),
    podSandboxStats: caller.unary(runtime.podSandboxStats, PodSandboxStatsRequest),
    listPodSandboxStats: caller.unary(runtime.listPodSandboxStats, ListPodSandboxStatsRequest),
    streamPodSandboxStats: caller.stream(runtime.streamPodSandboxStats, StreamPodSandboxStatsRequest),
    updateRuntimeConfig: caller.unary(runtime.updateRuntimeConfig, UpdateRuntimeConfigRequest),
    status: caller.unary(runtime.status, StatusRequest, checkStatus),
    checkpointContainer: caller.unary(runtime.checkpointContainer, CheckpointContainerRequest),
    getContainerEvents: caller.stream(runtime.getContainerEvents, GetEventsRequest),
    listMetricDescriptors: caller.unary(runtime.listMetricDescriptors, ListMetricDescriptorsRequest),
    listPodSandboxMetrics: caller.unary(runtime.listPodSandboxMetrics, ListPodSandboxMetricsRequest),
    streamPodSandboxMetrics: caller.stream(runtime.streamPodSandboxMetrics, StreamPodSandboxMetricsRequest),
    runtimeConfig: caller.unary(runtime.runtimeConfig, RuntimeConfigRequest),
    updatePodSandboxResources: caller.unary(runtime.updatePodSandboxResources, UpdatePodSandboxResourcesRequest),
    listImages: caller.unary(image.listImages, ListImagesRequest),
    streamImages: caller.stream(image.streamImages, StreamImagesRequest),
    imageStatus: caller.unary(image.imageStatus, ImageStatusRequest, checkImageStatus),
    pullImage: caller.unary(image.pullImage, PullImageRequest, checkPullImage),
    removeImage: caller.unary(image.removeImage, RemoveImageRequest),
    imageFsInfo: caller.unary(image.imageFsInfo, ImageFsInfoRequest),
  };
  const lists = { ...calls, ...(options.listStreaming === true && streamedLists(calls)) };
  // Without the pods' UIDs a list by parts may lack sandboxes: then the error is the caller's.
  const byParts = options.podUids === undefined ? {} : listsByParts(lists, options);
  return { ...lists, ...byParts, close: () => caller.close() };
}
