// Checks a reply before the kubelet acts on it. A runtime that returns OK without an id would otherwise leave
// containers behind that no call can name.

import type {
  AttachResponse,
  ContainerStatusResponse,
  CreateContainerResponse,
  ExecResponse,
  ImageStatusResponse,
  PodSandboxStatusResponse,
  PortForwardResponse,
  PullImageResponse,
  RunPodSandboxResponse,
  StatusResponse,
} from "./gen/runtime.v1.js";

/** Returns the problem of a reply; undefined if the reply is valid. */
export type ReplyCheck<Response> = (reply: Response) => string | undefined;

export const checkRunPodSandbox: ReplyCheck<RunPodSandboxResponse> = (reply) =>
  reply.podSandboxId === "" ? "the reply has no pod_sandbox_id" : undefined;

export const checkCreateContainer: ReplyCheck<CreateContainerResponse> = (reply) =>
  reply.containerId === "" ? "the reply has no container_id" : undefined;

export const checkPodSandboxStatus: ReplyCheck<PodSandboxStatusResponse> = ({ status }) => {
  if (status === undefined) return "the reply has no status";
  if (status.id === "") return "the status has no id";
  if (status.metadata === undefined) return "the status has no metadata";
  return status.createdAt === 0n ? "the status has no created_at" : undefined;
};

export const checkContainerStatus: ReplyCheck<ContainerStatusResponse> = ({ status }) => {
  if (status === undefined) return "the reply has no status";
  if (status.id === "") return "the status has no id";
  if (status.metadata === undefined) return "the status has no metadata";
  if (status.createdAt === 0n) return "the status has no created_at";
  if (status.image === undefined || status.image.image === "") return "the status has no image";
  return status.imageRef === "" ? "the status has no image_ref" : undefined;
};

export const checkStatus: ReplyCheck<StatusResponse> = ({ status }) => {
  const have = new Set(status?.conditions.map((condition) => condition.type));
  const missing = ["RuntimeReady", "NetworkReady"].filter((type) => !have.has(type));
  return missing.length === 0 ? undefined : `the status lacks the condition ${missing.join(" and ")}`;
};

export const checkPullImage: ReplyCheck<PullImageResponse> = (reply) =>
  reply.imageRef === "" ? "the reply has no image_ref" : undefined;

export const checkImageStatus: ReplyCheck<ImageStatusResponse> = ({ image }) => {
  if (image === undefined) return undefined;
  if (image.id === "") return "the image has no id";
  return image.size === 0n ? "the image has no size" : undefined;
};

export const checkUrl: ReplyCheck<ExecResponse | AttachResponse | PortForwardResponse> = (reply) =>
  reply.url === "" ? "the reply has no url" : undefined;
