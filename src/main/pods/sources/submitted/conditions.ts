// Whether If-Match and If-None-Match (RFC 9110) allow the write. So two writers do not undo each other's changes.

import type { Condition, ManifestName, ManifestRefusal } from "../../../../shared/contracts/manifests.js";

/** `current`: version of the manifest that is there; undefined: there is none. */
export function refusedByCondition(
  { ifMatch, ifNoneMatch }: Condition,
  current: string | undefined,
  { namespace, name }: ManifestName,
): ManifestRefusal | undefined {
  const manifest = `manifest ${namespace}/${name}`;
  const failed = (message: string): ManifestRefusal => ({ code: 412, reason: "Conflict", message });
  if (ifNoneMatch !== undefined && matches(ifNoneMatch, current)) {
    return failed(`${manifest} exists with ETag "${current}", which If-None-Match excludes`);
  }
  if (ifMatch === undefined || matches(ifMatch, current)) return undefined;
  if (current === undefined) return failed(`${manifest} does not exist, but If-Match requires a version of it`);
  return failed(
    `${manifest} has ETag "${current}", not one of If-Match: another client changed it; get it and apply the change again`,
  );
}

/** For a PUT of a manifest that exists. */
export function refusedWithoutCondition(
  { ifMatch, ifNoneMatch }: Condition,
  current: string,
  { namespace, name }: ManifestName,
): ManifestRefusal | undefined {
  if (ifMatch !== undefined || ifNoneMatch !== undefined) return undefined;
  return {
    code: 428,
    reason: "PreconditionRequired",
    message: `manifest ${namespace}/${name} exists: send If-Match with its ETag "${current}", or If-Match: * to replace any version`,
  };
}

/** A weak tag never matches: each version has other bytes. */
function matches(header: string, current: string | undefined): boolean {
  if (current === undefined) return false;
  if (header.trim() === "*") return true;
  return header.split(",").some((tag) => tag.trim() === `"${current}"`);
}
