import type { CriClient } from "../../../shared/kubernetes/cri/client.js";

/** CRI calls that requests need, including the image service. */
export type ServedRuntime = Pick<
  CriClient,
  | "exec"
  | "attach"
  | "portForward"
  | "execSync"
  | "checkpointContainer"
  | "listContainers"
  | "listPodSandbox"
  | "podSandboxStatus"
  | "listContainerStats"
  | "listPodSandboxStats"
  | "listMetricDescriptors"
  | "listPodSandboxMetrics"
  | "imageFsInfo"
  | "listImages"
  | "status"
>;
