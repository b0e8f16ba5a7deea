// The images of the runtime and the pods that use them. Pure.

import { bytes } from "../../cli/output/amounts.js";
import type { NodeletImages } from "../../shared/contracts/nodelet.js";
import { h, type VNode } from "../dom/vnode.js";
import { podLinks } from "./head.js";
import { badge, breakable, filterField, note, section } from "./parts.js";
import { table, type Sorting } from "./table.js";

export interface ImagesView {
  images: NodeletImages | undefined;
  problem: string | undefined;
  filter: string;
  onFilter: (text: string) => void;
  sorting: Sorting;
}

export function imagesView({ images, problem, filter, onFilter, sorting }: ImagesView): VNode {
  if (problem !== undefined) return section("Images", h("p", { role: "alert" }, badge("bad", problem)));
  if (images === undefined) return section("Images", note("Reading the images of the runtime…"));
  const { fileSystem } = images;
  const unused = images.images.filter(({ usedBy, pinned }) => usedBy.length === 0 && !pinned);
  const freed = unused.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const disk =
    fileSystem === undefined
      ? ""
      : ` ${bytes(fileSystem.availableBytes)} of ${bytes(fileSystem.capacityBytes)} are free on their disk.`;
  const word = filter.trim().toLowerCase();
  const rows = images.images.filter(({ names, id, usedBy }) =>
    [...names, id, ...usedBy].some((text) => text.toLowerCase().includes(word)),
  );
  return section(
    "Images",
    h("p", {}, `${images.images.length} images, ${unused.length} of them unused (${bytes(freed)}).${disk}`),
    h(
      "p",
      { class: "tools" },
      filterField("Filter", "image or pod", filter, onFilter),
      h("span", { class: "muted" }, `${rows.length} of ${images.images.length}`),
    ),
    table({
      caption: "Images of the runtime",
      columns: [
        {
          title: "Image",
          class: "code",
          cell: ({ names, id }) => [
            ...breakable(names[0] ?? id),
            names.length > 1 &&
              h("span", { class: "muted", title: names.join("\n") }, ` and ${names.length - 1} more names`),
          ],
          sort: ({ names, id }) => names[0] ?? id,
        },
        { title: "Size", number: true, cell: ({ sizeBytes }) => bytes(sizeBytes), sort: ({ sizeBytes }) => sizeBytes },
        {
          title: "Use",
          cell: ({ usedBy, pinned }) =>
            usedBy.length > 0 ? badge("good", "used") : pinned ? badge("plain", "pinned") : badge("plain", "unused"),
          sort: ({ usedBy, pinned }) => (usedBy.length > 0 ? 0 : pinned ? 1 : 2),
        },
        {
          title: "Pods",
          cell: ({ usedBy }) => (usedBy.length === 0 ? "–" : podLinks(usedBy.map(named))),
          sort: ({ usedBy }) => usedBy.length,
          class: "name",
        },
      ],
      rows: rows.toSorted((a, b) => b.sizeBytes - a.sizeBytes),
      keyOf: ({ id }) => id,
      empty: images.images.length === 0 ? "The runtime has no images." : "No image matches the filter.",
      sorting,
    }),
  );
}

/** Splits "namespace/name". */
function named(pod: string): { namespace: string; name: string } {
  const [namespace = "", name = ""] = pod.split("/", 2);
  return { namespace, name };
}
