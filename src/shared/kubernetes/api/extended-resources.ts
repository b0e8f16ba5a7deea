// Names of resources that are not Kubernetes' own: "example.com/gpu".

import { isQualifiedName } from "./manifest/formats.js";

const QUOTA_PREFIX = "requests.";

/** Device plugins may offer nothing else. */
export function isExtendedResourceName(name: string): boolean {
  if (!name.includes("/") || name.includes("kubernetes.io/") || name.startsWith(QUOTA_PREFIX)) return false;
  // As a quota it carries the prefix, and must still be a name.
  return isQualifiedName(`${QUOTA_PREFIX}${name}`);
}
