// nodelet images: the images of the runtime, who uses them, and what image garbage collection would remove.
import type { NodeletImages } from "../../shared/contracts/nodelet.js";
import type { Context } from "../context.js";
import { EXIT, type ExitCode } from "../errors.js";
import { bytes } from "../output/amounts.js";
import { print } from "../output/print.js";
import { table } from "../output/table.js";

interface Thresholds {
  imageGCHighThresholdPercent?: number;
  imageGCLowThresholdPercent?: number;
}

export async function imagesCommand(context: Context): Promise<ExitCode> {
  const { client } = context;
  const [images, { kubeletconfig }] = await Promise.all([
    client.json<NodeletImages>("/nodelet/images"),
    client.json<{ kubeletconfig: Thresholds }>("/configz"),
  ]);
  await print(context, images, () => imagesText(context, images, kubeletconfig));
  return EXIT.fine;
}

export function imagesText(
  { columns }: Pick<Context, "columns">,
  { images, fileSystem }: NodeletImages,
  { imageGCHighThresholdPercent: high = 85, imageGCLowThresholdPercent: low = 80 }: Thresholds,
): string {
  const unused = images.filter(({ usedBy, pinned }) => usedBy.length === 0 && !pinned);
  const freed = unused.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const rows = images.toSorted((a, b) => b.sizeBytes - a.sizeBytes);
  const list = table(
    [
      { title: "IMAGE", text: ({ names, id }) => names[0] ?? id },
      { title: "SIZE", text: ({ sizeBytes }) => bytes(sizeBytes) },
      { title: "USE", text: ({ usedBy, pinned }) => (usedBy.length > 0 ? "used" : pinned ? "pinned" : "unused") },
      { title: "PODS", text: ({ usedBy }) => usedBy.join(", ") || "-" },
    ],
    rows,
    columns,
  );
  const share =
    fileSystem === undefined
      ? undefined
      : 100 - Math.floor((fileSystem.availableBytes * 100) / fileSystem.capacityBytes);
  const disk =
    fileSystem === undefined
      ? ""
      : `The disk of the images is ${share ?? 0} % full (${bytes(fileSystem.availableBytes)} of ${bytes(fileSystem.capacityBytes)} free). `;
  const when =
    high >= 100
      ? "Image garbage collection is off (imageGCHighThresholdPercent is 100)."
      : `Image garbage collection begins at ${high} % and removes unused images, those unused for longest first, until ${low} %${share !== undefined && share >= high ? ": with its next run, within 5 minutes" : ""}.`;
  return `${list}\n${unused.length} unused image${unused.length === 1 ? "" : "s"}, ${bytes(freed)}. ${disk}${when}\n`;
}
