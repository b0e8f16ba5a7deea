// GET /nodelet/images: the images of the runtime, with the pods that use them, and the disk that they fill.
import type { Pod } from "../../../shared/api/pod.js";
import type { NodeletImages } from "../../../shared/contracts/nodelet.js";
import type { CriClient } from "../../../shared/cri/client.js";
import { statfs } from "node:fs/promises";

const DEADLINE_MS = 10_000;

export interface ImageDeps {
  images: () => Promise<Pick<CriClient, "listImages" | "imageFsInfo">>;
  pods: () => Iterable<Pod>;
}

export async function nodeletImages({ images, pods }: ImageDeps): Promise<NodeletImages> {
  const client = await images();
  const [{ images: listed }, { imageFilesystems }] = await Promise.all([
    client.listImages({}, { deadlineMs: DEADLINE_MS }),
    client.imageFsInfo({}, { deadlineMs: DEADLINE_MS }),
  ]);
  const users = usersByImage(pods());
  const mountPoint = imageFilesystems[0]?.fsId?.mountpoint;
  const disk = mountPoint === undefined ? undefined : await statfs(mountPoint).catch(() => undefined);
  return {
    images: listed.map(({ id, repoTags, repoDigests, size, pinned }) => ({
      id,
      names: repoTags.length > 0 ? repoTags : repoDigests,
      sizeBytes: Number(size),
      pinned,
      usedBy: [...new Set([id, ...repoTags, ...repoDigests].flatMap((name) => [...(users.get(name) ?? [])]))].sort(),
    })),
    ...(disk !== undefined && {
      fileSystem: {
        usedBytes: (disk.blocks - disk.bfree) * disk.bsize,
        availableBytes: disk.bavail * disk.bsize,
        capacityBytes: disk.blocks * disk.bsize,
      },
    }),
  };
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
