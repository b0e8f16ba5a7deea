// nodelet images: the images of the runtime, who uses them, what image garbage collection would remove, and when.

import type { NodeletImages } from "../../shared/contracts/nodelet.js";
import type { Context } from "../context.js";
import { EXIT, type ExitCode } from "../errors.js";
import { bytes, duration, durationMs } from "../output/amounts.js";
import { print } from "../output/print.js";
import { table, wrap } from "../output/table.js";

interface CollectionSettings {
  imageGCHighThresholdPercent?: number;
  imageGCLowThresholdPercent?: number;
  imageMaximumGCAge?: string;
}

type Image = NodeletImages["images"][number];

/** Collection runs so often. */
const PERIOD = "5 minutes";

export async function imagesCommand(context: Context): Promise<ExitCode> {
  const { client, clock } = context;
  const [images, { kubeletconfig }] = await Promise.all([
    client.json<NodeletImages>("/nodelet/images"),
    client.json<{ kubeletconfig: CollectionSettings }>("/configz"),
  ]);
  await print(context, images, () => imagesText(context, images, kubeletconfig, clock.now()));
  return EXIT.fine;
}

/** @internal */
export function imagesText(
  { columns }: Pick<Context, "columns">,
  { images, fileSystem }: NodeletImages,
  settings: CollectionSettings,
  now: number,
): string {
  const unused = images.filter(({ usedBy, pinned }) => usedBy.length === 0 && !pinned);
  const freed = unused.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const rows = images.toSorted((a, b) => b.sizeBytes - a.sizeBytes);
  const list = table(
    [
      { title: "IMAGE", text: ({ names, id }) => names[0] ?? id },
      { title: "SIZE", text: ({ sizeBytes }) => bytes(sizeBytes) },
      { title: "USE", text: ({ usedBy, pinned }) => (usedBy.length > 0 ? "used" : pinned ? "pinned" : "unused") },
      { title: "LAST USED", text: (image) => lastUsed(image, now) },
      { title: "REMOVAL", text: (image) => (image.removal === undefined ? "-" : `number ${image.removal.order}`) },
      { title: "PODS", text: ({ usedBy }) => usedBy.join(", ") || "-" },
    ],
    rows,
    columns,
  );
  const lines = [
    `${unused.length} unused image${unused.length === 1 ? "" : "s"}, ${bytes(freed)}.`,
    ...bySpace(images, fileSystem, settings),
    ...byAge(images, settings, now),
  ];
  return `${list}\n${lines.map((line) => `${wrap(line, columns)}\n`).join("")}`;
}

function lastUsed({ usedBy, removal }: Image, now: number): string {
  if (usedBy.length > 0) return "now";
  if (removal === undefined) return "-";
  return removal.lastUsedAt === undefined
    ? "not since the kubelet started"
    : `${duration(now - removal.lastUsedAt)} ago`;
}

function inOrder(images: readonly Image[]): Image[] {
  return images
    .filter(({ removal }) => removal !== undefined)
    .sort((a, b) => (a.removal?.order ?? 0) - (b.removal?.order ?? 0));
}

/** What would go for the disk's sake. */
function bySpace(
  images: readonly Image[],
  fileSystem: NodeletImages["fileSystem"],
  { imageGCHighThresholdPercent: high = 85, imageGCLowThresholdPercent: low = 80 }: CollectionSettings,
): string[] {
  if (fileSystem === undefined) return ["The disk of the images could not be measured."];
  const { availableBytes: available, capacityBytes: capacity } = fileSystem;
  const used = 100 - Math.floor((available * 100) / capacity);
  const disk = `The disk of the images is ${used} % full (${bytes(available)} of ${bytes(capacity)} free).`;
  if (high >= 100) return [`${disk} Image garbage collection is off (imageGCHighThresholdPercent is 100).`];
  const rule = `Image garbage collection begins at ${high} % and removes unused images, those unused for longest first, until ${low} %`;
  if (used < high) {
    const until = Math.max(0, available - Math.floor((capacity * (100 - high)) / 100));
    return [`${disk} ${rule}: when ${bytes(until)} more are used.`];
  }
  let missing = Math.floor((capacity * (100 - low)) / 100) - available;
  const goes: string[] = [];
  for (const { names, id, sizeBytes } of inOrder(images)) {
    if (missing <= 0) break;
    goes.push(names[0] ?? id);
    missing -= sizeBytes;
  }
  const short = missing > 0 ? `; ${bytes(missing)} would still be missing then` : "";
  return [
    `${disk} ${rule}: with its next run, within ${PERIOD}.`,
    goes.length === 0 ? `No image can be removed${short}.` : `It would remove: ${goes.join(", ")}${short}.`,
  ];
}

/** What would go because of its age. */
function byAge(images: readonly Image[], { imageMaximumGCAge = "0s" }: CollectionSettings, now: number): string[] {
  const maxMs = durationMs(imageMaximumGCAge) ?? 0;
  if (maxMs <= 0) return [];
  return inOrder(images).map(({ names, id, removal }) => {
    const name = names[0] ?? id;
    const goesAt = removal?.lastUsedAt === undefined ? now : removal.lastUsedAt + maxMs;
    const when = goesAt <= now ? `with the next run, within ${PERIOD}` : `in ${duration(goesAt - now)}`;
    return `${name} is removed ${when}, as it is unused for longer than imageMaximumGCAge (${imageMaximumGCAge}).`;
  });
}
