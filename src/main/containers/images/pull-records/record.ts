// Records of pulls in upstream's format below ROOTDIR/image_manager, so that each kubelet reads the other's records.
// There is an intent during a pull, and a record of each pulled image. File names are the sha256 of the image or of its
// reference. Reference: https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/

import { createHash } from "node:crypto";
import { isRecord } from "../../../../shared/base/text/is-record.js";
import { parseJson } from "../../../../shared/base/text/parse-json.js";
import type { CredentialSource } from "../credentials.js";

const WRITTEN_VERSION = "kubelet.config.k8s.io/v1beta1";
const READ_VERSIONS: readonly unknown[] = [WRITTEN_VERSION, "kubelet.config.k8s.io/v1alpha1"];
/**
 * Most entries of each list: a secret or an account that is created again and again must not grow its record without
 * end.
 */
const KEPT = 100;

export interface ImagePullIntent {
  /** As a container's image field has it, with its tag. */
  image: string;
}

type ImagePullSecret = Omit<Extract<CredentialSource, { kind: "secret" }>, "kind">;
type ImagePullServiceAccount = Omit<Extract<CredentialSource, { kind: "serviceAccount" }>, "kind">;
type Coordinates = ImagePullServiceAccount;

export interface ImagePullCredentials {
  /** Every pod of the node may use it: the credentials were the node's, or none were needed. */
  nodePodsAccessible?: boolean;
  kubernetesSecrets?: ImagePullSecret[];
  kubernetesServiceAccounts?: ImagePullServiceAccount[];
}

export interface ImagePulledRecord {
  /** As the runtime calls the image. */
  imageRef: string;
  /** RFC 3339, whole seconds. */
  lastUpdatedTime: string;
  /** By image without tag and digest. Nothing in it: proof is needed. */
  credentialMapping: Readonly<Record<string, ImagePullCredentials>>;
}

/** The text is no record of this kind. */
export class PullRecordError extends Error {
  override readonly name = "PullRecordError";
}

export function recordName(of: string): string {
  return `sha256-${createHash("sha256").update(of).digest("hex")}`;
}

export function isRecordName(name: string): boolean {
  return /^sha256-[0-9a-f]{64}$/.test(name);
}

export function intentText({ image }: ImagePullIntent): string {
  return `${JSON.stringify({ kind: "ImagePullIntent", apiVersion: WRITTEN_VERSION, image })}\n`;
}

export function recordText({ imageRef, lastUpdatedTime, credentialMapping }: ImagePulledRecord): string {
  const head = { kind: "ImagePulledRecord", apiVersion: WRITTEN_VERSION };
  return `${JSON.stringify({ ...head, lastUpdatedTime, imageRef, credentialMapping })}\n`;
}

/** Throws PullRecordError. */
export function readIntent(text: string): ImagePullIntent {
  const { image } = members(text, "ImagePullIntent");
  if (typeof image !== "string" || image === "") throw new PullRecordError("it names no image");
  return { image };
}

/**
 * Throws PullRecordError. Fields of later versions are left out: the kubelet then verifies the access that they grant
 * again.
 */
export function readRecord(text: string): ImagePulledRecord {
  const { imageRef, lastUpdatedTime, credentialMapping = {} } = members(text, "ImagePulledRecord");
  if (typeof imageRef !== "string" || imageRef === "") throw new PullRecordError("it names no imageRef");
  if (typeof lastUpdatedTime !== "string" || Number.isNaN(Date.parse(lastUpdatedTime))) {
    throw new PullRecordError("its lastUpdatedTime is not a time");
  }
  if (!isRecord(credentialMapping)) throw new PullRecordError("its credentialMapping is not an object");
  const mapping = Object.entries(credentialMapping).map(([image, value]) => [image, credentialsOf(value)]);
  return { imageRef, lastUpdatedTime, credentialMapping: Object.fromEntries(mapping) as Record<string, never> };
}

/** The credentials with one more that the image was pulled with; undefined source: none were needed. */
export function withSource(
  known: ImagePullCredentials = {},
  source: CredentialSource | undefined,
): ImagePullCredentials {
  if (known.nodePodsAccessible === true || source === undefined) return { nodePodsAccessible: true };
  switch (source.kind) {
    case "node":
      return { nodePodsAccessible: true };
    case "secret": {
      const { kubernetesSecrets = [] } = known;
      const { uid, namespace, name, credentialHash } = source;
      const isKnown = kubernetesSecrets.some((one) => isSame(one, source) && one.credentialHash === credentialHash);
      if (isKnown) return known;
      return { ...known, kubernetesSecrets: added(kubernetesSecrets, { uid, namespace, name, credentialHash }) };
    }
    case "serviceAccount": {
      const { kubernetesServiceAccounts = [] } = known;
      const { uid, namespace, name } = source;
      if (kubernetesServiceAccounts.some((one) => isSame(one, source))) return known;
      return { ...known, kubernetesServiceAccounts: added(kubernetesServiceAccounts, { uid, namespace, name }) };
    }
  }
}

/**
 * Whether a pod with these credentials may use the image. The record must name the same object, or for secrets the same
 * content.
 */
export function grants(known: ImagePullCredentials, source: CredentialSource): boolean {
  switch (source.kind) {
    case "node":
      return false;
    case "secret":
      return (known.kubernetesSecrets ?? []).some(
        (one) => isSame(one, source) || one.credentialHash === source.credentialHash,
      );
    case "serviceAccount":
      return (known.kubernetesServiceAccounts ?? []).some((one) => isSame(one, source));
  }
}

function isSame(a: Coordinates, b: Coordinates): boolean {
  return a.uid === b.uid && a.namespace === b.namespace && a.name === b.name;
}

function added<T extends Coordinates>(list: readonly T[], one: T): T[] {
  return [...list.filter((other) => !isSame(other, one)), one].slice(-KEPT);
}

function members(text: string, kind: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new PullRecordError("it is not JSON", { cause: error });
  }
  if (!isRecord(value) || value["kind"] !== kind) throw new PullRecordError(`it is not of kind ${kind}`);
  if (!READ_VERSIONS.includes(value["apiVersion"])) throw new PullRecordError("its apiVersion is not known");
  return value;
}

function credentialsOf(value: unknown): ImagePullCredentials {
  if (!isRecord(value)) throw new PullRecordError("its credentials are not an object");
  const { nodePodsAccessible, kubernetesSecrets, kubernetesServiceAccounts } = value;
  if (nodePodsAccessible === true) return { nodePodsAccessible };
  const read = <T>(list: unknown, name: string, one: (value: unknown) => T): Record<string, T[]> => {
    if (list === undefined) return {};
    if (!Array.isArray(list)) throw new PullRecordError(`its ${name} are not a list`);
    return { [name]: list.map(one) };
  };
  return {
    ...read(kubernetesSecrets, "kubernetesSecrets", secretOf),
    ...read(kubernetesServiceAccounts, "kubernetesServiceAccounts", coordinatesOf),
  };
}

function secretOf(value: unknown): ImagePullSecret {
  const { credentialHash = "" } = isRecord(value) ? value : {};
  if (typeof credentialHash !== "string") throw new PullRecordError("one of its secrets has no hash");
  return { ...coordinatesOf(value), credentialHash };
}

function coordinatesOf(value: unknown): Coordinates {
  const { uid, namespace, name } = isRecord(value) ? value : {};
  if (typeof uid !== "string" || typeof namespace !== "string" || typeof name !== "string") {
    throw new PullRecordError("one of its secrets or service accounts is incomplete");
  }
  return { uid, namespace, name };
}
