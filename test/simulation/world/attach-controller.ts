// The attach/detach controller of the simulated cluster, and the CSI driver's attacher: volumes of the node's pods are
// attached, some time later, and detached when no pod wants them and the node does not list them in volumesInUse.
// Invariant: a volume leaves volumesAttached in the moment in which it is neither wanted nor in use, and is detached
// after that.

import { attachmentName, uniqueVolumeName } from "../../../src/main/volumes/csi/paths.js";
import { kernel } from "../kernel/kernel.js";
import { NODE_NAME, type SimulatedApi } from "./api.js";
import { isOver } from "./claim-controller.js";
import { CSI_DRIVER, volumeOf } from "./csi-plugin.js";

const RESOURCE = "volumeattachments";
const MOST_LATE_MS = 20_000;
/** From one look at the volumes to the next. */
const PERIOD_MS = 5000;
const FAILS = 0.2;

interface NodeStatus {
  volumesInUse?: string[];
  volumesAttached?: { name: string; devicePath: string }[];
}

type Phase = "attaching" | "attached" | "detaching";

export class AttachController {
  /** Hears of each volume before it is detached. */
  readonly onDetach = new Set<(volume: string) => void>();
  /** By volume; absent: it is not attached. */
  private readonly phases = new Map<string, Phase>();

  constructor(private readonly api: SimulatedApi) {
    api.onPod(({ type }) => {
      if (type === "ADDED") kernel.after(kernel.world, kernel.random.between(1, 2000), () => this.reconcile());
    });
    this.repeat();
  }

  /** The volume may be used on the node. */
  isAttached(volume: string): boolean {
    return this.phases.get(volume) === "attached";
  }

  private repeat(): void {
    kernel.after(kernel.world, PERIOD_MS, () => {
      this.reconcile();
      this.repeat();
    });
  }

  private reconcile(): void {
    const node = this.nodeStatus();
    if (node === undefined) return;
    const wanted = this.wanted();
    for (const volume of wanted) if (!this.phases.has(volume)) this.attach(volume);
    for (const [volume, phase] of this.phases) {
      if (phase !== "attached" || wanted.has(volume)) continue;
      if (node.volumesInUse?.includes(nameOf(volume)) === true) continue;
      this.detach(volume);
    }
  }

  private attach(volume: string): void {
    this.phases.set(volume, "attaching");
    const name = attachmentName(volume, CSI_DRIVER, NODE_NAME);
    const spec = { attacher: CSI_DRIVER, nodeName: NODE_NAME, source: { persistentVolumeName: volume } };
    this.api.store.put(RESOURCE, { metadata: { name }, spec });
    const succeed = (): void => {
      this.api.store.put(RESOURCE, { metadata: { name }, status: { attached: true, attachError: null } });
      this.phases.set(volume, "attached");
      this.setAttached((volumes) => [...volumes, { name: nameOf(volume), devicePath: "" }]);
    };
    kernel.after(kernel.world, kernel.random.between(50, MOST_LATE_MS), () => {
      if (!kernel.random.chance(FAILS)) {
        succeed();
        return;
      }
      const attachError = { message: "the volume is busy", time: new Date(kernel.wall).toISOString() };
      this.api.store.put(RESOURCE, { metadata: { name }, status: { attached: false, attachError } });
      kernel.after(kernel.world, PERIOD_MS, succeed);
    });
  }

  private detach(volume: string): void {
    this.phases.set(volume, "detaching");
    this.setAttached((volumes) => volumes.filter(({ name }) => name !== nameOf(volume)));
    kernel.after(kernel.world, kernel.random.between(50, MOST_LATE_MS), () => {
      for (const listener of this.onDetach) listener(volume);
      this.phases.delete(volume);
      this.api.store.remove(RESOURCE, "", attachmentName(volume, CSI_DRIVER, NODE_NAME));
    });
  }

  private wanted(): Set<string> {
    const volumes = new Set<string>();
    for (const { spec, status } of this.api.store.list("pods", "default")) {
      if (isOver(status)) continue;
      for (const { persistentVolumeClaim: claim } of (spec?.["volumes"] ?? []) as Volume[])
        if (claim !== undefined) volumes.add(volumeOf(claim.claimName));
    }
    return volumes;
  }

  private nodeStatus(): NodeStatus | undefined {
    return this.api.store.get("nodes", "", NODE_NAME)?.status;
  }

  private setAttached(
    change: (volumes: NonNullable<NodeStatus["volumesAttached"]>) => NodeStatus["volumesAttached"],
  ): void {
    const volumesAttached = change(this.nodeStatus()?.volumesAttached ?? []);
    this.api.store.put("nodes", { metadata: { name: NODE_NAME }, status: { volumesAttached } });
  }
}

interface Volume {
  persistentVolumeClaim?: { claimName: string };
}

function nameOf(volume: string): string {
  return uniqueVolumeName(CSI_DRIVER, volume);
}
