// Finds the persistent volume of a pod's volume. The claim must be bound, and both objects must refer to each other.

import { messageOf } from "../../../shared/base/errors/thrown.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { ClaimFacts } from "../../../shared/contracts/nodelet.js";
import { isNotFound } from "../../../shared/kubernetes/api/client/errors.js";
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from "../../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../shared/kubernetes/api/objects.js";
import { isPathElement } from "../../../shared/kubernetes/api/path-element.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { Volume } from "../../../shared/kubernetes/api/volume.js";
import { withFacts } from "../../model/error-facts.js";
import { migratedVolume } from "../csi/migration/translate.js";
import { usersOfVolume } from "../volume-users.js";

export interface BoundClaim {
  claim: PersistentVolumeClaim;
  pv: PersistentVolume;
  /** The pod uses the volume read-only. */
  readOnly: boolean;
  /** The API has it as its cloud's; here it is its CSI driver's. */
  migrated: boolean;
}

/** The claim cannot be used, yet or at all; the messages are upstream's. */
export class ClaimError extends Error {
  override readonly name = "ClaimError";
}

/** A claim made for this pod's volume alone. */
function ephemeralClaimName(pod: Pod, volume: Volume): string {
  return `${pod.metadata.name}-${volume.name}`;
}

/** @throws ClaimError, or the signal's reason */
export async function boundClaim(
  client: ApiClient,
  pod: Pod,
  volume: Volume,
  signal: AbortSignal,
): Promise<BoundClaim> {
  const { namespace } = pod.metadata;
  const source = volume.persistentVolumeClaim;
  const name = source?.claimName ?? ephemeralClaimName(pod, volume);
  try {
    const claim = await read("PVC", () => client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name }, { signal }));
    if (source === undefined) checkOwner(claim, pod);
    if (claim.metadata.deletionTimestamp !== undefined) throw new ClaimError("PVC is being deleted");
    const pvName = claim.spec?.volumeName ?? "";
    if (claim.status?.phase !== "Bound" || pvName === "") {
      throw withFacts(new ClaimError("PVC is not bound"), { claim: claimFacts(claim) });
    }
    const found = await read(`PV ${pvName}`, () => client.get(PERSISTENT_VOLUMES, { name: pvName }, { signal }));
    if (found.metadata.name !== pvName || !isPathElement(pvName)) {
      throw new ClaimError(
        `the API server gave the PV ${JSON.stringify(found.metadata.name)} for ${JSON.stringify(pvName)}`,
      );
    }
    const migrated = migratedVolume(found);
    const pv = migrated ?? found;
    checkBinding(pv, claim);
    checkMode(pod, volume, pv);
    return { claim, pv, readOnly: source?.readOnly === true, migrated: migrated !== undefined };
  } catch (error) {
    signal.throwIfAborted();
    const text = messageOf(error);
    throw new ClaimError(`error processing PVC ${namespace}/${name}: ${text}`, { cause: error });
  }
}

function claimFacts({ metadata, spec, status }: PersistentVolumeClaim): ClaimFacts {
  const { storageClassName, volumeName, accessModes = [], resources } = spec ?? {};
  const size = resources?.requests?.["storage"];
  return omitUndefined({
    name: `${metadata.namespace ?? ""}/${metadata.name ?? ""}`,
    phase: status?.phase ?? "Pending",
    storageClass: storageClassName !== undefined && storageClassName !== "" ? storageClassName : undefined,
    volumeName: volumeName !== undefined && volumeName !== "" ? volumeName : undefined,
    size: size !== undefined ? String(size) : undefined,
    accessModes,
  });
}

export function isBlock(pv: PersistentVolume): boolean {
  return pv.spec.volumeMode === "Block";
}

async function read<T>(what: string, get: () => Promise<T>): Promise<T> {
  try {
    return await get();
  } catch (error) {
    const text = messageOf(error);
    const missing = isNotFound(error) ? "" : " (it is tried again)";
    throw new ClaimError(`failed to fetch ${what} from API server: ${text}${missing}`, { cause: error });
  }
}

/** Rejects a claim of that name that belongs to another owner. */
function checkOwner(claim: PersistentVolumeClaim, pod: Pod): void {
  const owner = claim.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner?.uid === pod.metadata.uid) return;
  const { namespace, name } = pod.metadata;
  throw new ClaimError(
    `PVC ${claim.metadata.namespace ?? namespace}/${claim.metadata.name ?? ""} was not created for pod ` +
      `${namespace}/${name} (pod is not owner)`,
  );
}

function checkBinding(pv: PersistentVolume, claim: PersistentVolumeClaim): void {
  const { claimRef } = pv.spec;
  const name = pv.metadata.name ?? "";
  if (claimRef === undefined) {
    throw new ClaimError(
      `found PV object ${name} but it has a nil pvc.Spec.ClaimRef indicating it is not yet bound to the claim`,
    );
  }
  if (claimRef.uid === claim.metadata.uid) return;
  throw new ClaimError(
    `found PV object ${name} but its pvc.Spec.ClaimRef.UID ${JSON.stringify(claimRef.uid ?? "")} does not point to ` +
      `claim.UID ${JSON.stringify(claim.metadata.uid ?? "")}`,
  );
}

function checkMode(pod: Pod, volume: Volume, pv: PersistentVolume): void {
  const users = usersOfVolume(pod.spec, volume.name);
  const [mode, wrong] = isBlock(pv) ? ["Block", "volumeMounts"] : ["Filesystem", "volumeDevices"];
  if ((wrong === "volumeMounts" ? users.mounts : users.devices).length === 0) return;
  throw new ClaimError(`volume ${volume.name} has volumeMode ${mode}, but is specified in ${wrong}`);
}
