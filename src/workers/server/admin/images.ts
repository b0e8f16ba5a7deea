// GET /nodelet/images: the images of the runtime, with the pods that use them, and the disk that they fill.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { UnusedImage } from "../../../shared/contracts/image-gc.js";
import type { NodeletImages } from "../../../shared/contracts/nodelet.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { CriClient } from "../../../shared/kubernetes/cri/client.js";
import type { NodeDisks } from "../stats/node-disks.js";

const DEADLINE_MS = 10_000;

export interface ImageDeps {
  images: () => Promise<Pick<CriClient, "listImages" | "imageFsInfo">>;
  pods: () => Iterable<Pod>;
  /** In the order in which collection removes them. */
  unused: () => Promise<UnusedImage[]>;
  disk: NodeDisks["facts"];
}

export async function nodeletImages({ images, pods, unused, disk: facts }: ImageDeps): Promise<NodeletImages> {
  const client = await images();
  const [{ images: listed }, { imageFilesystems }] = await Promise.all([
    client.listImages({}, { deadlineMs: DEADLINE_MS }),
    client.imageFsInfo({}, { deadlineMs: DEADLINE_MS }),
  ]);
  // While main or the image-gc thread does not respond, the order is not known; the rest is.
  const order = (await unused().catch(() => [])).map(
    ({ id, ...times }, index) => [id, { order: index + 1, ...times }] as const,
  );
  const removals = new Map(order);
  const users = usersByImage(pods());
  const mountPoint = imageFilesystems[0]?.fsId?.mountpoint;
  const disk = mountPoint === undefined ? undefined : await facts(mountPoint).catch(() => undefined);
  return omitUndefined({
    images: listed.map(({ id, repoTags, repoDigests, size, pinned }) => {
      const names = [id, ...repoTags, ...repoDigests];
      const usedBy = [...new Set(names.flatMap((name) => [...(users.get(name) ?? [])]))].sort();
      return {
        id,
        names: repoTags.length > 0 ? repoTags : repoDigests,
        sizeBytes: Number(size),
        pinned,
        usedBy,
        // A pod may have begun to use it since the last detection.
        ...(usedBy.length === 0 && optional(removals.get(id))),
      };
    }),
    fileSystem:
      disk !== undefined
        ? {
            usedBytes: (disk.blocks - disk.bfree) * disk.bsize,
            availableBytes: disk.bavail * disk.bsize,
            capacityBytes: disk.blocks * disk.bsize,
          }
        : undefined,
  });
}

/** Pods by every name under which their containers' statuses know the image. */
function usersByImage(pods: Iterable<Pod>): Map<string, Set<string>> {
  const users = new Map<string, Set<string>>();
  for (const { metadata, status } of pods) {
    const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {};
    for (const { image, imageID } of [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]) {
      for (const name of [image, imageID]) {
        const known = users.get(name) ?? new Set();
        users.set(name, known.add(`${metadata.namespace}/${metadata.name}`));
      }
    }
  }
  return users;
}

function optional<T>(removal: T | undefined): { removal?: T } {
  return removal === undefined ? {} : { removal };
}
