// The checks before a driver publishes a volume to a pod: the permitted users, the attachment, and the driver itself.
// Invariant: a volume whose only access mode is ReadWriteOncePod has one pod at a time.

import { quote } from "../../../shared/base/text/quote.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { measured } from "../measured.js";
import { VolumeError } from "../volume-error.js";
import { askForAttachment, waitForAttachment } from "./attach.js";
import type { CsiContext } from "./context.js";
import { csiPlugin, deviceKey, type CsiVolume } from "./csi-volume.js";
import type { DriverSpec } from "./driver-objects.js";
import type { CsiNode } from "./node-port.js";
import type { Staging } from "./staging.js";
import { CsiStepError, inStep } from "./step-error.js";
import type { Device } from "./users.js";

export interface DeviceInHand {
  spec: DriverSpec | undefined;
  node: CsiNode;
  /** undefined: a volume of the pod's own, which is never staged. */
  device: Device | undefined;
  publishContext: Readonly<Record<string, string>>;
}

/** Error prefix for volumes that no controller attaches. */
const ATTACH = "AttachVolume.Attach";

const IN_USE = "volume uses the ReadWriteOncePod access mode and is already in use by another pod";

export interface DeviceSteps {
  attach: string;
  device: string;
  /** It fails when another pod has the volume for itself. */
  alone: string;
}

/**
 * The pod's volume counts as used from before it is attached until it is torn down; an attempt that fails before
 * anything of it is noted on disk leaves no user behind. `work` runs while nothing else is done with the volume; it
 * says whether something of the pod's is on disk.
 */
export async function withDevice<T>(
  context: CsiContext,
  staging: Staging,
  request: { pod: Pod; volume: CsiVolume; user: string; block?: string; steps: DeviceSteps; signal: AbortSignal },
  work: (hand: DeviceInHand, onDisk: (noted: boolean) => void) => Promise<T>,
): Promise<T> {
  const { pod, volume, user, steps, signal } = request;
  const { objects, users, drivers, locks } = context;
  const spec = await objects.get(volume.driver);
  checkLifecycle(volume, spec);
  const key = deviceKey(volume);
  if (isForOnePod(volume) && users.hasOtherPod(key, pod.metadata.uid)) {
    throw new CsiStepError(steps.alone, new VolumeError(IN_USE));
  }
  const ephemeral = volume.lifecycle === "Ephemeral";
  const known = users.get(key)?.users.has(user) === true;
  const device = ephemeral ? undefined : users.use(volume, user, request.block);
  if (device !== undefined && device.block !== request.block) {
    throw new VolumeError(`volume ${key} is used both as a block device and as a file system on this node`);
  }
  let noted = known;
  try {
    let publishContext: Readonly<Record<string, string>> = {};
    if (device !== undefined) {
      if (volume.migrated === true) device.migrated = true;
      device.attachable = spec?.attachRequired !== false;
      if (device.attachable) {
        context.onInUse();
        publishContext = await attached(context, { pod, volume, step: steps.attach, signal });
      }
    }
    const { node } = await inStep(steps.device, signal, () => drivers.get(volume.driver, signal));
    const hand = { spec, node, device, publishContext };
    return await locks.run(key, () => work(hand, (now) => (noted = now)), signal);
  } catch (error) {
    if (!noted) staging.release(key, user);
    throw error;
  }
}

/** With more modes than one it is not known which of them the pod means. */
function isForOnePod({ accessModes }: CsiVolume): boolean {
  return accessModes.length === 1 && accessModes[0] === "ReadWriteOncePod";
}

/** Resolves to the attacher's publish context for the driver. */
async function attached(
  context: CsiContext,
  { pod, volume, step, signal }: { pod: Pod; volume: CsiVolume; step: string; signal: AbortSignal },
): Promise<Readonly<Record<string, string>>> {
  const doer = { plugin: csiPlugin(volume.driver), migrated: volume.migrated === true };
  if (context.controllerAttaches) {
    return measured(context, "verify_controller_attached_volume", doer, () =>
      inStep(step, signal, () => waitForAttachment(context, volume, signal)),
    );
  }
  if (!(await inStep(ATTACH, signal, () => askForAttachment(context, volume, signal)))) {
    return inStep(step, signal, () => waitForAttachment(context, volume, signal));
  }
  const found = await measured(context, "volume_attach", doer, () =>
    inStep(ATTACH, signal, () => waitForAttachment(context, volume, signal)),
  );
  // Upstream's message ends in a blank.
  const message = `${ATTACH} succeeded for volume ${quote(volume.name)} `;
  context.events.pod(pod, { type: "Normal", reason: "SuccessfulAttachVolume", message });
  return found;
}

/** @throws VolumeError */
function checkLifecycle(volume: CsiVolume, spec: DriverSpec | undefined): void {
  const { lifecycle, driver } = volume;
  if (lifecycle === "Ephemeral" && spec === undefined) {
    throw new VolumeError(
      `volume mode "Ephemeral" not supported by driver ${driver} (no CSIDriver object): make one that lists the mode`,
    );
  }
  const modes = spec?.volumeLifecycleModes ?? ["Persistent"];
  if (modes.includes(lifecycle)) return;
  throw new VolumeError(
    `volume mode ${quote(lifecycle)} not supported by driver ${driver} (only supports ${JSON.stringify(modes)})`,
  );
}
