// Users who ask for larger volumes, and the resize controller of the simulated cluster: it grows the volume some time
// later, and hands the claim over to the node, which grows the file system.
// Invariant: a volume grows again only when the node is done with the growth before, or cannot do it.

import { kernel } from "../kernel/kernel.js";
import type { SimulatedApi } from "./api.js";
import { volumeOf, type CsiPlugin } from "./csi-plugin.js";

/** The request of a user: no fault of the node. */
export interface ClaimChange {
  do: "claim-grows";
  claim: string;
  gibibytes: number;
  /** The node's driver refuses the size with this code; absent: it does not. */
  refusal?: number;
  /** So long; absent: for ever. */
  refusedMs?: number;
}

const CLAIMS = "persistentvolumeclaims";
const VOLUMES = "persistentvolumes";
const GIBIBYTE = 1024n ** 3n;
/** The node has tried, and will not again. */
export const INFEASIBLE = "NodeResizeInfeasible";
const MOST_LATE_MS = 20_000;
const AGAIN_MS = 5000;

export interface Growing {
  capacity?: { storage?: string };
  allocatedResourceStatuses?: { storage?: string } | null;
  conditions?: { type: string }[];
}

export class ClaimGrowth {
  constructor(
    private readonly api: SimulatedApi,
    private readonly csi: Pick<CsiPlugin, "refused">,
  ) {}

  /** By so many GiB. */
  perform({ claim, gibibytes, refusal, refusedMs }: ClaimChange): void {
    const { store } = this.api;
    const before = this.wantedOf(claim);
    const bytes = before + BigInt(gibibytes) * GIBIBYTE;
    const storage = textOf(bytes);
    if (refusal !== undefined) this.refuse(volumeOf(claim), { bytes, code: refusal }, refusedMs);
    const object = store.get(CLAIMS, "default", claim);
    store.put(CLAIMS, {
      metadata: { name: claim, namespace: "default" },
      spec: { ...object?.spec, resources: { requests: { storage } } },
    });
    kernel.after(kernel.world, kernel.random.between(100, MOST_LATE_MS), () => this.grow(claim));
  }

  private refuse(volume: string, refused: { bytes: bigint; code: number }, forMs: number | undefined): void {
    const all = this.csi.refused;
    all.set(volume, refused);
    if (forMs === undefined) return;
    kernel.after(kernel.world, forMs, () => {
      if (all.get(volume) === refused) all.delete(volume);
    });
  }

  /** The size that the user has asked for. */
  wantedOf(claim: string): bigint {
    const { resources } = (this.api.store.get(CLAIMS, "default", claim)?.spec ?? {}) as {
      resources?: { requests?: { storage?: string } };
    };
    return bytesOf(resources?.requests?.storage);
  }

  /** The size that the file system must get. */
  sizeOf(claim: string): bigint {
    const { capacity } = (this.api.store.get(VOLUMES, "", volumeOf(claim))?.spec ?? {}) as Growing;
    return bytesOf(capacity?.storage);
  }

  statusOf(claim: string): Growing {
    return this.api.store.get(CLAIMS, "default", claim)?.status ?? {};
  }

  private grow(claim: string): void {
    const { store } = this.api;
    const wanted = this.wantedOf(claim);
    if (wanted <= this.sizeOf(claim)) return;
    const { allocatedResourceStatuses, conditions = [] } = this.statusOf(claim);
    const state = allocatedResourceStatuses?.storage;
    if (state !== undefined && state !== INFEASIBLE) {
      kernel.after(kernel.world, AGAIN_MS, () => this.grow(claim));
      return;
    }
    const size = { storage: textOf(wanted) };
    const volume = store.get(VOLUMES, "", volumeOf(claim));
    store.put(VOLUMES, { metadata: { name: volumeOf(claim) }, spec: { ...volume?.spec, capacity: size } });
    const pending = { type: "FileSystemResizePending", status: "True" };
    store.put(CLAIMS, {
      metadata: { name: claim, namespace: "default" },
      status: {
        allocatedResources: size,
        allocatedResourceStatuses: { storage: "NodeResizePending" },
        conditions: [...conditions.filter(({ type }) => type !== pending.type), pending],
      },
    });
  }
}

export function bytesOf(storage = "0Gi"): bigint {
  return BigInt(storage.replace(/Gi$/, "")) * GIBIBYTE;
}

function textOf(bytes: bigint): string {
  return `${bytes / GIBIBYTE}Gi`;
}
