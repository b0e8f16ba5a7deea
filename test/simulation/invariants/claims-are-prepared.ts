// A ResourceClaim is prepared before a container that uses it starts, and stays prepared as long as one runs. The
// container has the CDI devices that the driver gave for its claims, and no others.

import { ContainerEventType, ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { FakeContainer } from "../../fake-cri/state.js";
import type { ContainerClaim } from "../plan/own-resource-claims.js";
import { podNameOf } from "../world/pod-facts.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";

type Dra = NonNullable<World["dra"]>;

export const claimsArePrepared: Invariant = {
  name: "claims are prepared while containers use them",
  promisedBy: "docs/adr/0047-dynamic-resources.md",
  watch(world, broken) {
    const { dra, runtime } = world;
    if (dra === undefined) return undefined;
    const { containers } = runtime.state;
    runtime.state.eventListeners.add(({ containerId, containerEventType }) => {
      const container = containers.get(containerId);
      if (containerEventType !== ContainerEventType.CONTAINER_STARTED_EVENT || container === undefined) return;
      checkDevices(world, dra, container, broken);
    });
    dra.driver.onUnprepare.add((uid) => {
      for (const container of containers.values()) {
        if (!isRunning(container) || !claimsOf(world, dra, container).some((claim) => claim.uid === uid)) continue;
        const { metadata, labels } = container.config;
        broken(`a claim is unprepared while ${metadata?.name} runs with it`, podNameOf(labels));
      }
    });
    return () => {
      for (const container of containers.values())
        if (isRunning(container)) checkDevices(world, dra, container, broken);
    };
  },
};

function isRunning({ status }: FakeContainer): boolean {
  return status.state === ContainerState.CONTAINER_RUNNING;
}

/** Claims of the container, with the UIDs of their objects. */
function claimsOf({ facts }: World, { claims }: Dra, { config }: FakeContainer): { uid: string; request: string }[] {
  const { containers = [], initContainers = [] } = (facts.pods.get(podNameOf(config.labels))?.shape.spec ??
    {}) as Record<string, { name: string; resources?: { claims?: ContainerClaim[] } }[] | undefined>;
  const spec = [...containers, ...initContainers].find(({ name }) => name === config.metadata?.name);
  const ofPod = claims.ofPods.get(config.labels["io.kubernetes.pod.uid"] ?? "");
  return (spec?.resources?.claims ?? []).map(({ name, request = "" }) => ({
    uid: ofPod?.get(name)?.uid ?? "",
    request,
  }));
}

function checkDevices(world: World, dra: Dra, container: FakeContainer, broken: Broken): void {
  const { config } = container;
  const wanted = claimsOf(world, dra, container).flatMap(({ uid, request }) => {
    const devices = dra.driver.prepared.get(uid)?.devices;
    if (devices === undefined) return ["a claim that is not prepared"];
    return devices.filter((device) => request === "" || device.request === request).map(({ cdi }) => cdi);
  });
  const has = config.CDIDevices.map(({ name }) => name);
  if (wanted.toSorted().join() === has.toSorted().join()) return;
  broken(
    `${config.metadata?.name} runs with the CDI devices [${has.join()}], and its claims give [${wanted.join()}]`,
    podNameOf(config.labels),
  );
}
