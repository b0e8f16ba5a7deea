// Images as the fake runtime holds them, and the registry it pulls from.

import { createHash } from "node:crypto";
import { ImageSpec, type AuthConfig, type Image } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";

export interface FakeRegistryEntry {
  /** Bytes; default 1 MiB. */
  size?: number;
  /** Duration of a pull, milliseconds. */
  pullMs?: number;
  /** USER of the image: a number or a name; default root. */
  user?: number | string;
  pinned?: boolean;
  /** The runtime handler for which the runtime keeps the image. */
  runtimeHandler?: string;
  /** Whether these credentials pull it; absent: it needs none. */
  allows?: (auth: AuthConfig | undefined) => boolean;
}

/** The image that a reference like "nodelet.local/busybox:1" stands for. Same reference, same id. */
export function makeImage(reference: string, entry: FakeRegistryEntry = {}): Image {
  const digest = createHash("sha256").update(reference).digest("hex");
  const tagAt = reference.lastIndexOf(":");
  const tagged = tagAt > reference.lastIndexOf("/");
  const repository = tagged ? reference.slice(0, tagAt) : reference;
  return {
    id: `sha256:${createHash("sha256").update(`config ${reference}`).digest("hex")}`,
    repoTags: [tagged ? reference : `${reference}:latest`],
    repoDigests: [`${repository}@sha256:${digest}`],
    size: BigInt(entry.size ?? 1024 * 1024),
    uid: typeof entry.user === "string" ? undefined : { value: BigInt(entry.user ?? 0) },
    username: typeof entry.user === "string" ? entry.user : "",
    spec:
      entry.runtimeHandler === undefined
        ? undefined
        : ImageSpec.fromPartial({ image: reference, runtimeHandler: entry.runtimeHandler }),
    pinned: entry.pinned ?? false,
  };
}
