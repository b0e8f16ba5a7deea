// Examples for images.

import type { Claims, Refused, Situation } from "../example.js";

const POLICY = "imagePullCredentialsVerificationPolicy";
const LIST = "preloadedImagesVerificationAllowlist";
const WITH_LIST = "NeverVerifyAllowlistedImages";
const noEnsure = { KubeletEnsureSecretPulledImages: false };

const entry = (text: string): Situation => ({ [POLICY]: WITH_LIST, [LIST]: ["busybox", text] });
const badEntry = (text: string, says: string): Refused => [entry(text), `${LIST}[1]`, says];

export const IMAGES: Claims = {
  "imageGCHighThresholdPercent | outside range": {
    bad: [
      [{ imageGCHighThresholdPercent: 101 }, "imageGCHighThresholdPercent", "101 is not a percentage from 0 to 100"],
      [
        { imageGCHighThresholdPercent: -1, imageGCLowThresholdPercent: 0 },
        ["imageGCHighThresholdPercent", "imageGCLowThresholdPercent"],
        "-1",
      ],
    ],
    good: [{ imageGCHighThresholdPercent: 100 }, { imageGCHighThresholdPercent: 1, imageGCLowThresholdPercent: 0 }],
  },
  "imageGCLowThresholdPercent | outside range": {
    bad: [
      [{ imageGCLowThresholdPercent: -1 }, "imageGCLowThresholdPercent", "-1 is not a percentage from 0 to 100"],
      [
        { imageGCLowThresholdPercent: 101 },
        ["imageGCLowThresholdPercent", "imageGCLowThresholdPercent"],
        "101 is not a percentage from 0 to 100",
      ],
    ],
    good: [{ imageGCLowThresholdPercent: 0 }, { imageGCLowThresholdPercent: 84 }],
  },
  "imageGCLowThresholdPercent, imageGCHighThresholdPercent | low >= high": {
    bad: [
      [
        { imageGCLowThresholdPercent: 85 },
        "imageGCLowThresholdPercent",
        "85 is not below imageGCHighThresholdPercent, which is 85",
      ],
      [{ imageGCLowThresholdPercent: 90 }, "imageGCLowThresholdPercent", "90 is not below"],
    ],
    good: [{ imageGCLowThresholdPercent: 84 }],
  },
  "imageMaximumGCAge | non-zero while gate off": {
    bad: [[{ imageMaximumGCAge: 3_600_000, gates: { ImageMaximumGCAge: false } }, "imageMaximumGCAge", "gate"]],
    good: [{ imageMaximumGCAge: 3_600_000 }, { imageMaximumGCAge: 0, gates: { ImageMaximumGCAge: false } }],
  },
  "imageMinimumGCAge | negative": {
    bad: [[{ imageMinimumGCAge: -1000 }, "imageMinimumGCAge", "-1s is not a duration of 0 or more"]],
    good: [{ imageMinimumGCAge: 0 }],
  },
  "imageMaximumGCAge | negative": {
    bad: [[{ imageMaximumGCAge: -1000 }, "imageMaximumGCAge", "-1s is not a duration of 0 or more"]],
    good: [{ imageMaximumGCAge: 0 }],
  },
  "imageMaximumGCAge, imageMinimumGCAge | maximum > 0 and maximum <= minimum": {
    bad: [
      [{ imageMaximumGCAge: 120_000 }, "imageMaximumGCAge", "2m0s is not longer than imageMinimumGCAge, which is 2m0s"],
      [{ imageMaximumGCAge: 1 }, "imageMaximumGCAge", "0 turns it off"],
    ],
    good: [{ imageMaximumGCAge: 120_001 }, { imageMaximumGCAge: 0 }],
  },
  "registryBurst | negative": { bad: [[{ registryBurst: -1 }, "registryBurst", "-1"]], good: [{ registryBurst: 0 }] },
  "registryPullQPS | negative": {
    bad: [[{ registryPullQPS: -1 }, "registryPullQPS", "-1"]],
    good: [{ registryPullQPS: 0 }],
  },
  "maxParallelImagePulls | set and < 1": {
    bad: [[{ maxParallelImagePulls: 0 }, "maxParallelImagePulls", "0 is not 1 or more"]],
    good: [{ maxParallelImagePulls: 1 }, { maxParallelImagePulls: undefined }],
  },
  "serializeImagePulls, maxParallelImagePulls | serialize true and max > 1": {
    bad: [[{ serializeImagePulls: true, maxParallelImagePulls: 2 }, "maxParallelImagePulls", "serializeImagePulls"]],
    good: [
      { serializeImagePulls: true, maxParallelImagePulls: 1 },
      { serializeImagePulls: false, maxParallelImagePulls: 2 },
    ],
  },
  "imagePullCredentialsVerificationPolicy | not a known value": {
    bad: [[{ [POLICY]: "Never" }, POLICY, '"Never" is not NeverVerify,']],
    good: ["NeverVerify", "NeverVerifyPreloadedImages", WITH_LIST, "AlwaysVerify"].map((policy) => ({
      [POLICY]: policy,
    })),
  },
  "preloadedImagesVerificationAllowlist, imagePullCredentialsVerificationPolicy | list non-empty and policy is not NeverVerifyAllowlistedImages":
    {
      bad: [
        [{ [LIST]: ["busybox"] }, LIST, `only with ${POLICY}: ${WITH_LIST}`],
        [{ [LIST]: ["busybox"], [POLICY]: "AlwaysVerify" }, LIST, "only with"],
      ],
      good: [
        { [LIST]: ["busybox"], [POLICY]: WITH_LIST },
        { [LIST]: [], [POLICY]: "AlwaysVerify" },
      ],
    },
  "preloadedImagesVerificationAllowlist[] | surrounding spaces; empty; * anywhere but as a final /*; bare /*; unparsable image; carries tag or digest":
    {
      bad: [
        badEntry(" busybox", "spaces"),
        badEntry("busybox ", "spaces"),
        badEntry("", "is empty"),
        badEntry("*", 'has "*" in a place'),
        badEntry("busy*", 'has "*" in a place'),
        badEntry("a/*/b", 'has "*" in a place'),
        badEntry("a/*/*", 'has "*" in a place'),
        badEntry("/*", "would match every image"),
        badEntry("Busybox", "is not an image name"),
        badEntry("a//b", "is not an image name"),
        badEntry("a//*", "is not an image name"),
        badEntry("busybox:1", "has a tag or a digest"),
        badEntry("registry.example/a:1", "has a tag or a digest"),
        badEntry("registry.example/a:1/*", "has a tag or a digest"),
        badEntry(`busybox@sha256:${"a".repeat(64)}`, "has a tag or a digest"),
      ],
      good: [
        "registry.example/team/app",
        "registry.example:5000/team/app",
        "registry.example/*",
        "registry.example:5000/*",
        "localhost:5000/*",
        "team/*",
        "a_b/c-d/e.f/*",
      ].map(entry),
    },
  "imagePullCredentialsVerificationPolicy | non-empty while gate off": {
    bad: [[{ [POLICY]: "NeverVerify", gates: noEnsure }, POLICY, "gate KubeletEnsureSecretPulledImages"]],
    good: [{ gates: noEnsure }, { [POLICY]: "", gates: noEnsure }],
  },
  "preloadedImagesVerificationAllowlist | non-empty while gate off": {
    bad: [[{ [LIST]: ["busybox"], gates: noEnsure }, LIST, "gate KubeletEnsureSecretPulledImages"]],
    good: [{ [LIST]: [], gates: noEnsure }],
  },
};
