// Deadlines, operation names and required reply content per verb: what the kubelet promises of its CRI calls.

const MINUTES = 60_000;

/** Verbs whose kubelet_runtime_operations label is not their snake_case form. */
const OPERATION_NAMES: Readonly<Record<string, string>> = {
  RunPodSandbox: "run_podsandbox",
  StopPodSandbox: "stop_podsandbox",
  RemovePodSandbox: "remove_podsandbox",
  PodSandboxStatus: "podsandbox_status",
  ListPodSandbox: "list_podsandbox",
  PodSandboxStats: "podsandbox_stats",
  ListPodSandboxStats: "list_podsandbox_stats",
  ListPodSandboxMetrics: "list_podsandbox_metrics",
  UpdatePodSandboxResources: "update_podsandbox_resources",
  UpdateContainerResources: "update_container",
};

/** The `operation_type` label of a verb (metrics.tsv, kubelet_runtime_operations_total). */
export function operationName(verb: string): string {
  return OPERATION_NAMES[verb] ?? verb.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

/** The parts of any request that matter for its deadline. */
interface TimedRequest {
  timeout?: string | number | bigint;
}

/**
 * The deadline of a call in milliseconds, undefined for none (cri-v1.md, client conduct).
 * `requestTimeoutMs` is runtimeRequestTimeout.
 */
export function defaultDeadlineMs(verb: string, request: TimedRequest, requestTimeoutMs: number): number | undefined {
  const requested = Number(request.timeout ?? 0) * 1000;
  switch (verb) {
    case "RunPodSandbox":
      return 2 * requestTimeoutMs;
    case "StopContainer":
      return requestTimeoutMs + requested;
    case "ExecSync":
      return requested === 0 ? undefined : requestTimeoutMs + requested;
    case "PullImage":
    case "GetContainerEvents":
      return undefined;
    case "CheckpointContainer":
      return requested === 0 ? 10 * MINUTES : requested;
    default:
      return requestTimeoutMs;
  }
}

type Reply = Record<string, unknown>;

function part(reply: Reply, name: string): Reply | undefined {
  const value = reply[name];
  return typeof value === "object" && value !== null ? (value as Reply) : undefined;
}

function missingOf(reply: Reply | undefined, prefix: string, names: readonly string[]): string | undefined {
  if (reply === undefined) return prefix;
  const missing = names.find((name) => [undefined, null, "", 0n].includes(reply[name] as undefined));
  return missing === undefined ? undefined : `${prefix}${prefix === "" ? "" : "."}${missing}`;
}

/** The name of a required field that a reply lacks, or undefined when the reply is complete. */
export function missingField(verb: string, reply: Reply): string | undefined {
  switch (verb) {
    case "RunPodSandbox":
      return missingOf(reply, "", ["podSandboxId"]);
    case "CreateContainer":
      return missingOf(reply, "", ["containerId"]);
    case "PullImage":
      return missingOf(reply, "", ["imageRef"]);
    case "Exec":
    case "Attach":
    case "PortForward":
      return missingOf(reply, "", ["url"]);
    case "PodSandboxStatus":
      return missingOf(part(reply, "status"), "status", ["id", "metadata", "createdAt"]);
    case "ContainerStatus":
      return missingOf(part(reply, "status"), "status", ["id", "metadata", "createdAt", "image", "imageRef"]);
    case "ImageStatus":
      return reply["image"] === undefined ? undefined : missingOf(part(reply, "image"), "image", ["id", "size"]);
    case "Status": {
      const conditions = part(reply, "status")?.["conditions"];
      const types = Array.isArray(conditions) ? conditions.map((condition: Reply) => condition["type"]) : [];
      return ["RuntimeReady", "NetworkReady"].find((type) => !types.includes(type));
    }
    default:
      return undefined;
  }
}
