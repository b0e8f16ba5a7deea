// ImageService verbs.

import type { Image, ImageFilter } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { FakeWorld, UnaryVerbs } from "../context.js";
import { Fault } from "../fault.js";
import { makeImage } from "../images.js";
import type { FakeState } from "../state.js";

export function imageVerbs({
  state,
  settings,
}: FakeWorld): UnaryVerbs<"listImages" | "imageStatus" | "pullImage" | "removeImage" | "imageFsInfo"> {
  return {
    listImages: ({ filter }) => ({ images: listImages(state, filter) }),
    imageStatus: ({ image, verbose }) => ({
      image: state.image(image?.image ?? ""),
      info: verbose ? { info: "{}" } : {},
    }),
    pullImage: async ({ image, auth }, call) => {
      const reference = image?.image ?? "";
      const entry = settings.registry.get(reference);
      if (entry === undefined) {
        throw new Fault(
          "NOT_FOUND",
          `failed to pull and unpack image "${reference}": failed to resolve reference: not found`,
        );
      }
      if (entry.allows?.(auth) === false) {
        throw new Fault(
          "UNKNOWN",
          `failed to pull and unpack image "${reference}": failed to authorize: 401 Unauthorized`,
        );
      }
      if (settings.fetch === undefined) await call.sleep(entry.pullMs ?? 0);
      else await settings.fetch(reference, (ms) => call.sleep(ms));
      const pulled = makeImage(reference, entry);
      const noRoom = settings.room?.pull(reference, Number(pulled.size));
      if (noRoom !== undefined) throw new Fault("UNKNOWN", noRoom);
      state.images.set(pulled.id, pulled);
      return { imageRef: pulled.id };
    },
    removeImage: ({ image }) => {
      const found = state.image(image?.image ?? "");
      if (found !== undefined) state.images.delete(found.id);
      return {};
    },
    imageFsInfo: () => ({
      imageFilesystems: [
        {
          timestamp: state.nanos(),
          fsId: { mountpoint: settings.imageStore },
          usedBytes: { value: [...state.images.values()].reduce((sum, image) => sum + image.size, 0n) },
          inodesUsed: { value: BigInt(state.images.size) },
        },
      ],
      containerFilesystems:
        settings.containerStore === undefined
          ? []
          : [
              {
                timestamp: state.nanos(),
                fsId: { mountpoint: settings.containerStore },
                usedBytes: undefined,
                inodesUsed: undefined,
              },
            ],
    }),
  };
}

/** All images, or the one that the filter names. */
export function listImages(state: FakeState, filter: ImageFilter | undefined): Image[] {
  const wanted = filter?.image?.image ?? "";
  if (wanted === "") return [...state.images.values()];
  const found = state.image(wanted);
  return found === undefined ? [] : [found];
}
