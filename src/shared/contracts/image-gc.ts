// The image-gc thread's contract. The thread proposes, main grants, the thread removes (docs/adr/0017). It runs for the
// length of a round only; main keeps what the next round has to know (docs/adr/0119).
// Invariant: the thread removes only images that were granted to its generation; no pull and no container starts to use
// a granted image before its release; every answer that needs main's full picture is undefined until main has one.

import type { MonotonicTime } from "../base/clock/moments.js";
import type { CriChannelKind } from "../kubernetes/cri/channel-kind.js";
import type { MetricSnapshot } from "../telemetry/metrics/snapshot.js";

/** Init data of the thread. Durations are milliseconds; names are KubeletConfiguration's. */
export interface ImageGcInit {
  /** CRI endpoint of the image service, "unix:///…". */
  imageEndpoint: string;
  runtimeEndpoint: string;
  runtimeRequestTimeoutMs: number;
  /** Gate CRIListStreaming. */
  listStreaming: boolean;
  /** Flag --cri-channel. */
  criChannel: CriChannelKind;
  imageGCHighThresholdPercent: number;
  imageGCLowThresholdPercent: number;
  imageMinimumGCAgeMs: number;
  /** 0: no such limit. */
  imageMaximumGCAgeMs: number;
  /** The runtime may keep an image once for each runtime handler (gate RuntimeClassInImageCriApi). */
  imagesByHandler: boolean;
  /** When main began to keep the images' history. */
  since: MonotonicTime;
  /** As of the last detection; undefined: this is the first one. */
  history: KnownImage[] | undefined;
}

/**
 * An image as the last detection left it. Moments are by the monotonic clock, which all threads share, or NEVER.
 */
export interface KnownImage {
  id: string;
  /** The handler for which the runtime keeps the image; "" without the gate RuntimeClassInImageCriApi. */
  runtimeHandler: string;
  /** No container uses it, and the runtime does not need it itself. */
  unused: boolean;
  firstSeen: number;
  lastUsed: number;
}

/**
 * Before any time. Images from before this process count as old, and images without use as used longest ago. The clock
 * begins with the machine: 0 would be a moment ago where that has just started.
 */
export const NEVER = -Infinity;

/** Least recently used first; among equals the oldest first. The difference of two NEVER is NaN, which counts as 0. */
export function byEviction(
  a: Pick<KnownImage, "id" | "lastUsed" | "firstSeen">,
  b: Pick<KnownImage, "id" | "lastUsed" | "firstSeen">,
): number {
  return a.lastUsed - b.lastUsed || a.firstSeen - b.firstSeen || (a.id < b.id ? -1 : 1);
}

/** An image with all its names. */
export interface ImageNames {
  id: string;
  repoTags: string[];
  repoDigests: string[];
}

export interface ImageProposal {
  /** Generation of the image-gc thread. Main grants only proposals of the thread that runs. */
  generation: number;
  images: ImageNames[];
}

export type ImageGcEventReason = "FreeDiskSpaceFailed" | "InvalidDiskCapacity" | "ImageGCFailed" | "InvalidImageID";

/** The requests that the thread may send to main. */
export interface ImageGcUpcalls {
  /** Which of them a container or a wanted pod uses, by id. */
  imagesInUse(images: ImageNames[]): Promise<string[] | undefined>;
  /**
   * Ids of the images that may be removed now. From here on, no container begins to use them until they are released or
   * the thread exits. A new proposal releases the rest of the previous one.
   */
  grant(proposal: ImageProposal): Promise<string[]>;
  /** The removal of these images has ended, with or without success. */
  release(generation: number, ids: string[]): void;
  /** A detection or a removal changed the records of images. */
  known(images: KnownImage[]): void;
  /** A warning about the node. */
  warn(reason: ImageGcEventReason, message: string): void;
}

export interface FreedImages {
  images: number;
  bytes: number;
}

/** An image that no container uses, as collection knows it. Moments are milliseconds since the epoch. */
export interface UnusedImage {
  id: string;
  /** Absent: no use was seen since the kubelet started. */
  lastUsedAt?: number;
  /** Absent: it was there before the kubelet started. */
  firstSeenAt?: number;
}

export interface ImageGcControl {
  /** One detection; if collection is on, what must go is removed. Rejects when too little was freed. */
  collect(): Promise<void>;
  /** The disk is short: removes every unused image, except those just used or younger than imageMinimumGCAge. */
  removeUnused(): Promise<FreedImages>;
  metrics(): Promise<MetricSnapshot>;
}
