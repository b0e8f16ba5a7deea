// The image-gc thread's contract. The thread proposes, main grants, the thread removes (docs/adr/0017).
// Invariant: the thread removes only images that were granted to its generation; no pull and no container starts to use
// a granted image before its release; every answer that needs main's full picture is undefined until main has one.

import type { ContainerImage } from "../kubernetes/api/node.js";
import type { MetricSnapshot } from "../telemetry/metrics/snapshot.js";

/** Init data of the thread. Durations are milliseconds; names are KubeletConfiguration's. */
export interface ImageGcInit {
  /** CRI endpoint of the image service, "unix:///…". */
  imageEndpoint: string;
  runtimeEndpoint: string;
  runtimeRequestTimeoutMs: number;
  /** Gate CRIListStreaming. */
  listStreaming: boolean;
  imageGCHighThresholdPercent: number;
  imageGCLowThresholdPercent: number;
  imageMinimumGCAgeMs: number;
  /** 0: no such limit. */
  imageMaximumGCAgeMs: number;
  /** Interval between two detections of images; if collection is on, each of them also collects. */
  imagePeriodMs: number;
  /** The runtime may keep an image once for each runtime handler (gate RuntimeClassInImageCriApi). */
  imagesByHandler: boolean;
  /** Interval between two checks for dangling log links. */
  linkPeriodMs: number;
  containerLogsDir: string;
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
  /** Which of the containers are there and have not exited. */
  containersAlive(ids: string[]): Promise<string[] | undefined>;
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
  /** As of the last detection, in the order in which collection removes them. */
  unusedImages(): Promise<UnusedImage[]>;
  /** The disk is short: removes every unused image, except those just used or younger than imageMinimumGCAge. */
  removeUnused(): Promise<FreedImages>;
  /** For the Node object: biggest first, at most five names each; a negative `max` means all. */
  biggestImages(max: number): Promise<ContainerImage[]>;
  metrics(): Promise<MetricSnapshot>;
}
