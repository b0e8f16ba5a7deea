// The container runtime, and the kubelet's settings for every container. Times are ms.

import { SECOND, type ConfigReader } from "./reader.js";

export type RuntimeSettings = Readonly<ReturnType<typeof runtimeSettings>>;

const DEFAULT_IDS_PER_POD = 65_536;

/** As in Kubernetes 1.23. */
const DOCKERSHIM_ENDPOINT = "unix:///var/run/dockershim.sock";

/** @param onDocker the kubelet itself serves CRI over the Docker Engine; the default endpoint is then dockershim's */
export function runtimeSettings(read: ConfigReader, onDocker = false) {
  const own = onDocker && !read.config.isSet("containerRuntimeEndpoint");
  const endpoint = own ? DOCKERSHIM_ENDPOINT : withScheme(read.text("containerRuntimeEndpoint"));
  const imageService = read.text("imageServiceEndpoint");
  return {
    containerRuntimeEndpoint: endpoint,
    imageServiceEndpoint: imageService === "" ? endpoint : withScheme(imageService),
    runtimeRequestTimeoutMs: read.period("runtimeRequestTimeout", 120 * SECOND),
    volumePluginDir: read.text("volumePluginDir"),
    fsQuotaMonitoring: read.gate("LocalStorageCapacityIsolationFSQuotaMonitoring"),
    criListStreaming: read.gate("CRIListStreaming"),
    seccompDefault: read.bool("seccompDefault"),
    allowedUnsafeSysctls: read.texts("allowedUnsafeSysctls"),
    idsPerPod: read.config.get("userNamespaces.idsPerPod") ?? DEFAULT_IDS_PER_POD,
    kubeletInUserNamespace: read.gate("KubeletInUserNamespace"),
    containerStopSignals: read.gate("ContainerStopSignals"),
    imageVolumeWithDigest: read.gate("ImageVolumeWithDigest"),
    envFiles: read.gate("EnvFiles"),
    changeContainerStatusOnKubeletRestart: read.gate("ChangeContainerStatusOnKubeletRestart"),
    resourceHealthStatus: read.gate("ResourceHealthStatus"),
    resourceHealthStatusMessage: read.gate("ResourceHealthStatusMessage"),
    draExtendedResource: read.gate("DRAExtendedResource"),
    draWorkloadResourceClaims: read.gate("DRAWorkloadResourceClaims"),
    podResourcesListUseActivePods: read.gate("KubeletPodResourcesListUseActivePods"),
    podsApi: read.gate("PodsAPI"),
    restartGates: {
      containerRestartRules: read.gate("ContainerRestartRules"),
      restartAllContainers: read.gate("RestartAllContainersOnContainerExits"),
    },
    crashLoopBackOff: crashLoopBackOff(read),
  };
}

/**
 * The first wait is baseMs; each further one is twice as long, up to maxMs. A period that the operator set wins over
 * the gate's.
 */
function crashLoopBackOff({ config, gate }: ConfigReader): { baseMs: number; maxMs: number } {
  const path = "crashLoopBackOff.maxContainerRestartPeriod";
  const quick = gate("ReduceDefaultCrashLoopBackOffDecay");
  const given = gate("KubeletCrashLoopBackOffMax") && config.isSet(path) ? config.get(path) : undefined;
  const maxMs = given ?? (quick ? 60 : 300) * SECOND;
  return { baseMs: Math.min((quick ? 1 : 10) * SECOND, maxMs), maxMs };
}

function withScheme(endpoint: string): string {
  return endpoint.startsWith("/") ? `unix://${endpoint}` : endpoint;
}
