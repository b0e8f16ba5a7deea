// pods/UID/userns: the ids of one pod, in upstream's layout, so that either kubelet reads the other's file.

import { errorCode } from "../../../shared/base/errors/error-code.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import { readRegularText } from "../../../shared/io/fs/regular-file.js";
import type { IdRange } from "./id-range.js";
import { UserNamespaceError } from "./user-namespace-error.js";

interface Mapping {
  hostId: number;
  containerId: number;
  length: number;
}

export async function writeMappings(path: string, { first, length }: IdRange): Promise<void> {
  const mappings: Mapping[] = [{ hostId: first, containerId: 0, length }];
  await atomicWrite(path, JSON.stringify({ uidMappings: mappings, gidMappings: mappings }), { mode: 0o644 });
}

/** undefined if there is no file. Throws UserNamespaceError for one without usable content. */
export async function readMappings(path: string): Promise<IdRange | undefined> {
  let text: string;
  try {
    text = await readRegularText(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
  const found = decoded(text);
  if (found === undefined) {
    throw new UserNamespaceError(
      `${path} does not name the ids of its pod; remove the pod, and the file once the pod is terminated`,
    );
  }
  return found;
}

/** One mapping from id 0 on, the same for users and groups: nothing else was ever written. */
function decoded(text: string): IdRange | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { uidMappings, gidMappings } = (value ?? {}) as Record<string, unknown>;
  const [uids, gids] = [only(uidMappings), only(gidMappings)];
  if (uids === undefined || gids === undefined) return undefined;
  if (uids.hostId !== gids.hostId || uids.length !== gids.length) return undefined;
  return { first: uids.hostId, length: uids.length };
}

function only(list: unknown): Mapping | undefined {
  if (!Array.isArray(list) || list.length !== 1) return undefined;
  const { hostId, containerId, length } = (list[0] ?? {}) as Partial<Mapping>;
  if (containerId !== 0 || !isId(hostId) || !isId(length) || hostId === 0 || length === 0) return undefined;
  return { hostId, containerId, length };
}

const isId = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 32;
