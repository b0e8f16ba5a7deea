// Go sends maps in random order. Equal states must be equal bytes, or every inspection would seem to show a change.
import type { ContainerStatus, PodSandboxStatus } from "../../shared/cri/gen/runtime.v1.js";

function sorted(map: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Puts the maps of a sandbox's status into key order. */
export function stableSandbox(status: PodSandboxStatus): PodSandboxStatus {
  return { ...status, labels: sorted(status.labels), annotations: sorted(status.annotations) };
}

/** Puts the maps of a container's status into key order. */
export function stableContainer(status: ContainerStatus): ContainerStatus {
  const linux = status.resources?.linux;
  return {
    ...status,
    labels: sorted(status.labels),
    annotations: sorted(status.annotations),
    ...(linux === undefined
      ? {}
      : {
          resources: { windows: status.resources?.windows, linux: { ...linux, unified: sorted(linux.unified) } },
        }),
  };
}
