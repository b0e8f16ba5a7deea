// The PodSandboxConfig of a pod on this node. The same value goes into RunPodSandbox, CreateContainer and PullImage.
import type { Pod } from "../../shared/api/pod.js";
import type { PodSandboxConfig } from "../../shared/cri/gen/runtime.v1.js";
import { sandboxHostname } from "../network/hosts-file.js";
import { podDns } from "../network/pod-dns.js";
import { sandboxResources } from "../resources/container-resources.js";
import { sandboxConfig } from "./config/sandbox-config.js";
import { containerResourceOptions } from "./granted.js";
import type { NodeRuntime } from "./node-runtime.js";
import type { PodEnvironment } from "./pod-environment.js";

/** Throws PodFqdnTooLongError when the pod's host name can't be, UserNamespaceError when there are no ids for it. */
export async function sandboxSettings(
  runtime: NodeRuntime,
  pod: Pod,
  environment: Pick<PodEnvironment, "cgroup" | "logDirectory" | "dns">,
  attempt: number,
): Promise<PodSandboxConfig> {
  const { dns } = podDns(pod, await environment.dns());
  const userNamespace = await runtime.userNamespaces.forPod(pod);
  return sandboxConfig({
    pod,
    attempt,
    hostname: sandboxHostname(pod, runtime.settings.clusterDomain),
    dns,
    logDirectory: environment.logDirectory,
    cgroupParent: environment.cgroup.criParent,
    ...(userNamespace !== undefined && { userNamespace }),
    ...sandboxResources(pod, containerResourceOptions(runtime)),
  });
}
