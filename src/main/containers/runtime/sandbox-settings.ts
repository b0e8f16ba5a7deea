// The PodSandboxConfig of a pod on this node. It goes into RunPodSandbox, and into CreateContainer and PullImage by
// repeatedConfig().

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodSandboxConfig } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { sandboxResources } from "../../resources/sandbox-resources.js";
import { podDns } from "../network/pod-dns.js";
import { sandboxHostname } from "../network/pod-hostname.js";
import { sandboxConfig } from "./config/sandbox-config.js";
import { containerResourceOptions } from "./granted.js";
import type { NodeRuntime } from "./node-runtime.js";
import type { PodEnvironment } from "./pod-environment.js";

type SandboxEnvironment = Pick<PodEnvironment, "cgroup" | "logDirectory" | "dns">;

interface KnownSettings {
  readonly pod: Pod;
  readonly attempt: number;
  readonly settings: Promise<PodSandboxConfig>;
}

/**
 * It holds values of all containers, and the start of each container needs it: it is made once per preparation of the
 * pod.
 */
const known = new WeakMap<SandboxEnvironment, KnownSettings>();

/** Throws OperatorError when the pod's host name can't be, UserNamespaceError when there are no ids for it. */
export function sandboxSettings(
  runtime: NodeRuntime,
  pod: Pod,
  environment: SandboxEnvironment,
  attempt: number,
): Promise<PodSandboxConfig> {
  const found = known.get(environment);
  if (found?.pod === pod && found.attempt === attempt) return found.settings;
  const settings = makeSettings(runtime, pod, environment, attempt);
  known.set(environment, { pod, attempt, settings });
  // A failure is not kept. The caller awaits the promise itself.
  settings.catch(() => {
    if (known.get(environment)?.settings === settings) known.delete(environment);
  });
  return settings;
}

async function makeSettings(
  runtime: NodeRuntime,
  pod: Pod,
  environment: SandboxEnvironment,
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
    userNamespace,
    ...sandboxResources(pod, containerResourceOptions(runtime)),
  });
}
