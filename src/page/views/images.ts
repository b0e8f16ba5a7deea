// The images of the runtime and the pods that use them. Pure.
import { bytes } from "../../cli/output/amounts.js";
import type { NodeletImages } from "../../shared/contracts/nodelet.js";
import { h, type VNode } from "../dom/vnode.js";
import { badge, section, table } from "./parts.js";

export function imagesView(images: NodeletImages | undefined, problem: string | undefined): VNode {
  if (problem !== undefined) return section("Images", h("p", { role: "alert" }, badge("bad", problem)));
  if (images === undefined) return section("Images", h("p", { class: "muted" }, "Reading the images of the runtime…"));
  const { fileSystem } = images;
  const unused = images.images.filter(({ usedBy, pinned }) => usedBy.length === 0 && !pinned);
  const freed = unused.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const disk =
    fileSystem === undefined
      ? ""
      : ` ${bytes(fileSystem.availableBytes)} of ${bytes(fileSystem.capacityBytes)} are free on their disk.`;
  return section(
    "Images",
    h("p", {}, `${images.images.length} images, ${unused.length} of them unused (${bytes(freed)}).${disk}`),
    table({
      caption: "Images of the runtime",
      columns: [
        { title: "Image", class: "code", cell: ({ names, id }) => names[0] ?? id },
        { title: "Size", number: true, cell: ({ sizeBytes }) => bytes(sizeBytes) },
        {
          title: "Use",
          cell: ({ usedBy, pinned }) =>
            usedBy.length > 0 ? badge("good", "used") : pinned ? badge("plain", "pinned") : badge("plain", "unused"),
        },
        { title: "Pods", cell: ({ usedBy }) => usedBy.join(", ") || "–" },
      ],
      rows: images.images.toSorted((a, b) => b.sizeBytes - a.sizeBytes),
      keyOf: ({ id }) => id,
      empty: "The runtime has no images.",
    }),
  );
}
