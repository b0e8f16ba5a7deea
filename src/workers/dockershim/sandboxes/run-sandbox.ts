// RunPodSandbox: image, container, checkpoint, start, DNS, network. After a failure, everything made so far is removed.

import { messageOf } from "../../../shared/base/errors/thrown.js";
import { writeUntrusted } from "../../../shared/io/fs/untrusted-file.js";
import type { DNSConfig, PodSandboxConfig } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { isHostNetwork } from "../containers/namespaces.js";
import { unsupportedInSandbox } from "../containers/unsupported.js";
import { create, inspected, remove, start } from "../engine/containers.js";
import { Fault } from "../fault.js";
import { sandboxName } from "../names.js";
import type { Shim } from "../shim.js";
import type { Checkpoint, CheckpointPort } from "./checkpoints.js";
import { protocolName, sandboxOptions } from "./create-config.js";

/** Time for removing a sandbox that could not be set up, also when the caller gave up, ms. */
const CLEAN_UP_MS = 60_000;

/** Returns the sandbox's id. */
export async function runSandbox(
  shim: Shim,
  config: PodSandboxConfig | undefined,
  runtimeHandler: string,
  signal: AbortSignal,
): Promise<string> {
  if (config?.metadata === undefined) throw new Fault("INVALID_ARGUMENT", "the request has no metadata of the sandbox");
  if (runtimeHandler !== "" && runtimeHandler !== "docker") {
    throw new Fault(
      "INVALID_ARGUMENT",
      `RuntimeHandler ${JSON.stringify(runtimeHandler)} not supported: all pods of a Docker Engine use its default runtime`,
    );
  }
  const { engine, network } = shim;
  unsupportedInSandbox(config);
  const options = await sandboxOptions({
    config,
    image: await shim.images.ensureSandboxImage(signal),
    cgroupDriver: await shim.cgroupDriver(signal),
    podNetwork: network.dockerNetwork,
    lowestOomScoreAdj: await shim.lowestOomScoreAdj(),
  });
  const id = await create(engine, signal, sandboxName(config.metadata), options);
  try {
    await setUp(shim, id, config, signal);
    return id;
  } catch (error) {
    await undo(shim, id, config).catch((left: unknown) => {
      shim.log.warn(
        `sandbox ${id} could not be set up, and removing it failed: ${messageOf(left)}; the kubelet removes it later`,
      );
    });
    throw error;
  }
}

async function setUp(shim: Shim, id: string, config: PodSandboxConfig, signal: AbortSignal): Promise<void> {
  const { engine, network, checkpoints, clock } = shim;
  const checkpoint = checkpointOf(config, clock.nowNanos());
  await checkpoints.write(id, checkpoint);
  await start(engine, signal, id);
  const { State, ResolvConfPath } = await inspected(engine, signal, id, "podsandbox");
  if (config.dnsConfig !== undefined) await writeUntrusted(ResolvConfPath, resolvConf(config.dnsConfig), 0o644);
  if (checkpoint.data.host_network) return;
  const pod = { sandboxId: id, metadata: checkpoint, pid: State.Pid, ports: checkpoint.data.port_mappings };
  try {
    const ips = await network.setUp(pod, config, signal);
    if (ips !== undefined) await checkpoints.write(id, { ...checkpoint, data: { ...checkpoint.data, ips } });
  } catch (error) {
    throw new Fault(
      "UNKNOWN",
      `failed to set up pod ${checkpoint.name}_${checkpoint.namespace} network: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

async function undo(
  { engine, network, checkpoints, clock }: Shim,
  id: string,
  config: PodSandboxConfig,
): Promise<void> {
  const late = new AbortController();
  const timer = clock.after(CLEAN_UP_MS, () => late.abort(new Error(`not done within ${CLEAN_UP_MS / 1000} s`)));
  try {
    const checkpoint = checkpointOf(config, 0n);
    if (!checkpoint.data.host_network) {
      const { State } = await inspected(engine, late.signal, id, "podsandbox");
      await network.tearDown(
        { sandboxId: id, metadata: checkpoint, pid: State.Pid, ports: checkpoint.data.port_mappings },
        late.signal,
      );
    }
    await remove(engine, late.signal, id);
    await checkpoints.remove(id);
  } finally {
    timer.cancel();
  }
}

function checkpointOf(config: PodSandboxConfig, nowNanos: bigint): Checkpoint {
  const { name, namespace, uid, attempt } = config.metadata ?? { name: "", namespace: "", uid: "", attempt: 0 };
  return {
    version: "v1",
    name,
    namespace,
    uid,
    attempt,
    createdAtNanos: String(nowNanos),
    data: {
      host_network: isHostNetwork(config.linux?.securityContext?.namespaceOptions),
      port_mappings: config.portMappings.flatMap((mapping): CheckpointPort[] => {
        if (mapping.hostPort === 0) return [];
        const { containerPort, hostPort, hostIp, protocol } = mapping;
        return [
          { protocol: protocolName(protocol), container_port: containerPort, host_port: hostPort, host_ip: hostIp },
        ];
      }),
      ips: [],
      network_removed: false,
    },
  };
}

/** resolv.conf(5). The sandbox's file is that of all containers of the pod. @internal */
export function resolvConf({ servers, searches, options }: DNSConfig): string {
  return [
    ...(searches.length > 0 ? [`search ${searches.join(" ")}`] : []),
    ...servers.map((server) => `nameserver ${server}`),
    ...(options.length > 0 ? [`options ${options.join(" ")}`] : []),
    "",
  ].join("\n");
}
