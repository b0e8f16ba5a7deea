// Faults in evictions, and in the removal of images and containers before them.

import type { Mutant } from "../driver/mutant.js";

const EVICTION = "src/workers/eviction";

export const EVICTION_MUTANTS: readonly Mutant[] = [
  {
    name: "the pod that uses least is evicted",
    file: `${EVICTION}/rank.ts`,
    text: "b.used - b.requested - (a.used - a.requested) ||",
    replacement: "a.used - a.requested - (b.used - b.requested) ||",
  },
  {
    name: "pods are evicted beside each other",
    file: `${EVICTION}/orders.ts`,
    text: "return now < this.settledAt || [...this.orders.values()].some(({ until }) => now < until);",
    replacement: "return now < this.settledAt;",
  },
  {
    name: "a pressure holds for ever",
    file: `${EVICTION}/judge.ts`,
    text: "(at === now || now - at < transitionPeriodMs)",
    replacement: "(at === now || now - at < transitionPeriodMs + 1e9)",
  },
  {
    name: "static pods are ordered away",
    file: `${EVICTION}/pod-store.ts`,
    text: "this.all().filter(({ critical }) => !critical)",
    replacement: "this.all()",
  },
  {
    name: "memory that is free counts as used",
    file: `${EVICTION}/observe.ts`,
    text: "Math.max(0, room.capacity - room.workingSet)",
    replacement: "Math.max(0, room.capacity - 8 * room.workingSet)",
  },
  {
    name: "unused images stay while pods are evicted for a disk",
    file: `${EVICTION}/disk-relief.ts`,
    text: "for (const way of ways) {",
    replacement: 'for (const way of ways.filter((one) => one !== "images")) {',
  },
  {
    name: "a disk is not measured again after images were removed",
    file: `${EVICTION}/disk-relief.ts`,
    text: ".every(({ signal }) => !isDisk(signal))) {",
    replacement: ".length < 0) {",
  },
  {
    name: "images from before the kubelet are young",
    file: "src/shared/contracts/image-gc.ts",
    text: "NEVER = -Infinity",
    replacement: "NEVER = 0",
  },
  {
    name: "volumes in memory take up the disk",
    file: `${EVICTION}/pod-storage.ts`,
    text: "apart !== true && !inMemory.has(name)",
    replacement: 'apart !== true || name !== "" || !inMemory.has(name)',
  },
  {
    name: "soft thresholds have no grace period",
    file: `${EVICTION}/judge.ts`,
    text: ">= each.graceMs,",
    replacement: ">= 0 * each.graceMs,",
  },
  {
    name: "a soft threshold gives the pod its own grace period",
    file: `${EVICTION}/outbox.ts`,
    text: "return most < 0 ?",
    replacement: "return most < 1000 ?",
  },
  {
    name: "evictions end before the minimum reclaim",
    file: `${EVICTION}/judge.ts`,
    text: "metOf(driven, observations, true)",
    replacement: "metOf(driven, observations, false)",
  },
  {
    name: "a pressure ends with its shortage",
    file: `${EVICTION}/judge.ts`,
    text: "(at === now || now - at < transitionPeriodMs)",
    replacement: "at === now",
  },
  {
    name: "the pod with the fewest processes is evicted",
    file: `${EVICTION}/rank.ts`,
    text: "(b.used ?? 0) - (a.used ?? 0)",
    replacement: "(a.used ?? 0) - (b.used ?? 0)",
  },
  {
    name: "a volume may have eight times its limit",
    file: `${EVICTION}/breach.ts`,
    text: "if (exceeds(used.bytes, sizeLimit))",
    replacement: "if (exceeds(used.bytes / 8, sizeLimit))",
  },
  {
    name: "the layers of a pod count for each of its containers",
    file: `${EVICTION}/breach.ts`,
    text: "exceeds(logs + (layersCount ? layer : 0), limit)",
    replacement: "exceeds(logs + (layersCount ? storage.total.bytes : 0), limit)",
  },
  {
    name: "evictions do not ask for priorities",
    file: `${EVICTION}/rank.ts`,
    text: "      flag(b.used > b.requested) - flag(a.used > a.requested) ||\n      byPriority(a, b) ||\n",
    replacement: "      flag(b.used > b.requested) - flag(a.used > a.requested) ||\n",
  },
  {
    name: "requests of ephemeral storage do not count",
    file: `${EVICTION}/disk-relief.ts`,
    text: "requested: inodes ? 0 :",
    replacement: "requested: inodes || disk !== undefined ? 0 :",
  },
  {
    name: "limits of ephemeral storage are looked at once",
    file: `${EVICTION}/limit-rounds.ts`,
    text: "this.nextAt = clock.monotonic() + PERIOD_MS;",
    replacement: "this.nextAt = clock.monotonic() + 60 * PERIOD_MS;",
  },
  {
    name: "bytes decide who is evicted for inodes",
    file: `${EVICTION}/disk-relief.ts`,
    text: "(inodes ? taken.inodes : taken.bytes)",
    replacement: "(inodes ? taken.bytes : taken.bytes)",
  },
  {
    name: "dead containers are young after the clock was set back",
    file: "src/main/pods/collection/dead-containers.ts",
    text: "minimumTTLMs <= 0 ||",
    replacement: "minimumTTLMs < 0 ||",
  },
];
