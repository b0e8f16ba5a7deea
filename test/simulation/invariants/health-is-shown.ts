// The status of a pod shows the last health that a DRA driver has reported of its devices, or Unknown when that is
// older than the device's timeout: soon after each change while there are no faults, and after each round.

import { kernel } from "../kernel/kernel.js";
import type { ContainerClaim } from "../plan/own-resource-claims.js";
import { SHOWN_MS } from "../world/device-health.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";

type Dra = NonNullable<World["dra"]>;
type Healths = NonNullable<Dra["driver"]["healths"]>;

/** Looks after a change: at its report, and when that is too old. */
const LOOKS_MS = [SHOWN_MS + 5000, 55_000];
/** Pods run again so long after a fault. */
const CALM_MS = 90_000;

interface ContainerStatus {
  name: string;
  state?: { running?: object };
  allocatedResourcesStatus?: { name: string; resources?: { resourceID: string; health?: string }[] }[];
}

export const healthIsShown: Invariant = {
  name: "the status shows the health of devices",
  promisedBy: "docs/adr/0047-dynamic-resources.md",
  watch(world, broken) {
    const { dra, facts } = world;
    const healths = dra?.driver.healths;
    if (dra === undefined || healths === undefined) return undefined;
    const look = (): void => {
      if (kernel.monotonic - facts.lastFaultAt > CALM_MS) check(world, dra, healths, broken);
    };
    world.onEvent.add((action) => {
      if (!action.do.startsWith("health-")) return;
      for (const ms of LOOKS_MS) kernel.after(kernel.world, ms, look);
    });
    return () => {
      if (!healths.isWatched) broken("the kubelet does not watch the health of the driver's devices");
      check(world, dra, healths, broken);
    };
  },
};

function check({ api }: World, dra: Dra, healths: Healths, broken: Broken): void {
  for (const { metadata, spec, status } of api.store.list("pods", "default")) {
    const { phase, containerStatuses = [] } = (status ?? {}) as {
      phase?: string;
      containerStatuses?: ContainerStatus[];
    };
    if (phase !== "Running" || metadata.deletionTimestamp !== undefined) continue;
    const containers = (spec?.["containers"] ?? []) as { name: string; resources?: { claims?: ContainerClaim[] } }[];
    for (const { name, resources } of containers) {
      const shown = containerStatuses.find((one) => one.name === name);
      if (shown?.state?.running === undefined) continue;
      for (const claim of resources?.claims ?? [])
        checkClaim({ uid: metadata.uid ?? "", pod: metadata.name, claim, shown }, dra, healths, broken);
    }
  }
}

interface Shown {
  /** UID and name of the pod. */
  uid: string;
  pod: string;
  claim: ContainerClaim;
  shown: ContainerStatus;
}

function checkClaim(
  { uid, pod, claim, shown }: Shown,
  { claims, driver }: Dra,
  healths: Healths,
  broken: Broken,
): void {
  const { name, request } = claim;
  const prepared = driver.prepared.get(claims.ofPods.get(uid)?.get(name)?.uid ?? "");
  const row = `claim:${name}${request === undefined ? "" : `/${request}`}`;
  const resources = shown.allocatedResourcesStatus?.find((one) => one.name === row)?.resources;
  for (const { device, cdi, request: of } of prepared?.devices ?? []) {
    if (request !== undefined && request !== of) continue;
    const wanted = healths.shown(device);
    const health = resources?.find(({ resourceID }) => resourceID === cdi)?.health;
    if (wanted === undefined || health === wanted) continue;
    broken(`the status of ${shown.name} shows ${health} for ${device} of ${row}, not ${wanted}`, pod);
  }
}
