// Waits until a volume is attached: the Node's status lists it, and its VolumeAttachment is attached. With
// enableControllerAttachDetach false, the kubelet requests the attachment itself.
// Invariant: a volume is published in volumesInUse before it is used, so that no controller detaches it meanwhile.

import { isAlreadyExists, isForbidden, isNotFound } from "../../../shared/kubernetes/api/client/errors.js";
import { NODES, VOLUME_ATTACHMENTS } from "../../../shared/kubernetes/api/client/kinds.js";
import type { VolumeAttachment } from "../../../shared/kubernetes/api/objects.js";
import { VolumeError } from "../volume-error.js";
import type { CsiContext } from "./context.js";
import { deviceKey, type CsiVolume } from "./csi-volume.js";
import { AttachLimitError } from "./errors.js";
import { attachmentName } from "./paths.js";

/** Longest wait in one attempt; upstream's value. */
const WAIT_MS = 600_000;
/** Polling: soon at first, since most volumes attach quickly; then at upstream's intervals. */
const FIRST_LOOK_MS = 100;
const SLOW_FROM_MS = 500;
const LONGEST_MS = 7_000;
/** gRPC's ResourceExhausted, as an attacher passes it on. */
const RESOURCE_EXHAUSTED = 8;

/**
 * The publish_context that the attacher has for the driver.
 * @throws VolumeError, AttachLimitError, ApiError, ApiConnectionError, or the signal's reason
 */
export async function waitForAttachment(
  context: CsiContext,
  volume: CsiVolume,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const { clock, nodeName, controllerAttaches } = context;
  const name = attachmentName(volume.handle, volume.driver, nodeName);
  const deadline = clock.monotonic() + WAIT_MS;
  for (let delayMs = FIRST_LOOK_MS; ; delayMs = nextDelay(delayMs)) {
    const missing = controllerAttaches ? await missingInNode(context, volume, signal) : undefined;
    const attachment = missing === undefined ? await read(context, name, signal) : undefined;
    const problem = missing ?? problemOf(attachment, name);
    if (problem === undefined) return attachment?.status?.attachmentMetadata ?? {};
    if (clock.monotonic() + delayMs > deadline) throw new VolumeError(problem);
    await clock.sleep(delayMs, signal);
  }
}

/** Deletes the kubelet's own attachment request; the attacher then detaches the volume. */
export async function detach(
  context: CsiContext,
  volume: Pick<CsiVolume, "driver" | "handle">,
  signal: AbortSignal,
): Promise<void> {
  const name = attachmentName(volume.handle, volume.driver, context.nodeName);
  try {
    await context.joined().client.delete(VOLUME_ATTACHMENTS, { name }, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** @internal */
export function nextDelay(delayMs: number): number {
  return delayMs < SLOW_FROM_MS ? Math.min(delayMs * 2, SLOW_FROM_MS) : Math.min(delayMs * 1.05, LONGEST_MS);
}

/**
 * Requests the attachment where no controller does. False: it was requested before. @throws ApiError,
 * ApiConnectionError
 */
export async function askForAttachment(context: CsiContext, volume: CsiVolume, signal: AbortSignal): Promise<boolean> {
  const { nodeName } = context;
  const { attachAs } = volume;
  const source = attachAs === undefined ? { persistentVolumeName: volume.name } : { inlineVolumeSpec: attachAs };
  const attachment: VolumeAttachment = {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttachment",
    metadata: { name: attachmentName(volume.handle, volume.driver, nodeName) },
    spec: { attacher: volume.driver, nodeName, source },
  };
  try {
    await context.joined().client.create(VOLUME_ATTACHMENTS, attachment, { signal });
    return true;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return false;
  }
}

async function missingInNode(context: CsiContext, volume: CsiVolume, signal: AbortSignal): Promise<string | undefined> {
  const { status } = await context.joined().client.get(NODES, { name: context.nodeName }, { signal });
  const name = deviceKey(volume);
  if (status?.volumesInUse?.includes(name) !== true) {
    return `Volume has not been added to the list of VolumesInUse in the node's volume status for volume ${name}`;
  }
  if (status.volumesAttached?.some((attached) => attached.name === name) !== true) {
    return `Volume not attached according to node status for volume ${name}`;
  }
  return undefined;
}

async function read(context: CsiContext, name: string, signal: AbortSignal): Promise<VolumeAttachment | undefined> {
  try {
    return await context.joined().client.get(VOLUME_ATTACHMENTS, { name }, { signal });
  } catch (error) {
    // For a node without a relation to the volume, the server does not reveal whether one exists.
    if (isNotFound(error) || isForbidden(error)) return undefined;
    throw error;
  }
}

/** undefined: it is attached. @throws VolumeError, AttachLimitError when waiting is of no use */
function problemOf(attachment: VolumeAttachment | undefined, name: string): string | undefined {
  if (attachment === undefined) return `volume attachment ${name} does not exist`;
  if (attachment.metadata.deletionTimestamp !== undefined) {
    throw new VolumeError(`volume attachment ${name} is being deleted`);
  }
  if (attachment.status?.attached === true) return undefined;
  const error = attachment.status?.attachError;
  if (error === undefined) return `volume attachment ${name} is not attached yet`;
  const message = error.message ?? "attaching failed";
  throw error.errorCode === RESOURCE_EXHAUSTED ? new AttachLimitError(message) : new VolumeError(message);
}
