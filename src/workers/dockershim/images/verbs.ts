// Verbs of the image service.

import type Docker from "dockerode";
import type { Image } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { Verbs } from "../call.js";
import { imageSpec } from "../containers/status.js";
import { Fault } from "../fault.js";
import type { Shim } from "../shim.js";

type ImageVerb = "listImages" | "imageStatus" | "pullImage" | "removeImage" | "imageFsInfo";

export function imageVerbs(shim: Shim): Verbs<ImageVerb> {
  const { images, clock } = shim;
  const pinned = shim.init.podInfraContainerImage;
  return {
    async listImages({ filter }, signal) {
      const wanted = filter?.image?.image ?? "";
      if (wanted !== "") {
        const found = await images.inspect(wanted, signal);
        return { images: found === undefined ? [] : [criImage(found, configOf(found).User ?? "", pinned)] };
      }
      return { images: (await images.list(signal)).map((image) => criImage(image, "", pinned)) };
    },

    async imageStatus({ image, verbose }, signal) {
      const found = await images.inspect(image?.image ?? "", signal);
      return {
        image: found && criImage(found, configOf(found).User ?? "", pinned),
        info:
          verbose && found
            ? { info: JSON.stringify({ imageSpec: { config: { Labels: configOf(found).Labels } } }) }
            : {},
      };
    },

    async pullImage({ image, auth }, signal) {
      if (image === undefined || image.image === "") throw new Fault("INVALID_ARGUMENT", "the request names no image");
      return { imageRef: await images.pull(image.image, auth, signal) };
    },

    async removeImage({ image }, signal) {
      await images.remove(image?.image ?? "", signal);
      return {};
    },

    async imageFsInfo(_request, signal) {
      const [{ DockerRootDir }, layers] = await Promise.all([shim.info(signal), shim.layerUsage.bytes()]);
      // Of images, shared layers count once per image: more than is used, which is better than nothing.
      const bytes = layers ?? (await images.list(signal)).reduce((sum, { Size }) => sum + BigInt(Size), 0n);
      const usage = {
        timestamp: clock.nowNanos(),
        fsId: { mountpoint: DockerRootDir },
        usedBytes: { value: bytes },
        inodesUsed: undefined,
      };
      return { imageFilesystems: [usage], containerFilesystems: [usage] };
    },
  };
}

/** The Engine leaves out what an image does not set. */
function configOf(image: { Config?: ImageConfig }): ImageConfig {
  return image.Config ?? {};
}

interface ImageConfig {
  User?: string;
  Labels?: Record<string, string>;
}

type Named = Pick<Docker.ImageInfo, "Id" | "RepoTags" | "RepoDigests" | "Size">;

/** @param user the image's own: "uid", "name", "uid:gid" or "" */
function criImage({ Id, RepoTags, RepoDigests, Size }: Named, user: string, pinned: string): Image {
  const tags = (RepoTags ?? []).filter((tag) => tag !== "<none>:<none>");
  const [name = ""] = user.split(":");
  const isNumber = /^\d+$/.test(name);
  return {
    id: Id,
    repoTags: tags,
    repoDigests: (RepoDigests ?? []).filter((digest) => !digest.startsWith("<none>@")),
    size: BigInt(Size),
    uid: isNumber ? { value: BigInt(name) } : undefined,
    username: isNumber ? "" : name,
    spec: imageSpec(Id),
    pinned: tags.includes(pinned),
  };
}
