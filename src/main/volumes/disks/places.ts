// The places of disks below their plugin's directory, without access to the mounts there, which may not respond.

import { namesIn } from "../paths.js";
import type { DiskKind } from "./disk.js";

export async function placesBelow(root: string, kind: DiskKind): Promise<string[]> {
  const first = await namesIn(root);
  if (kind.depth === 1) return first.filter((place) => kind.uniqueNameOf(place) !== undefined);
  const lists = await Promise.all(
    first.map(async (name) => (await namesIn(`${root}/${name}`)).map((one) => `${name}/${one}`)),
  );
  return lists.flat().filter((place) => kind.uniqueNameOf(place) !== undefined);
}
