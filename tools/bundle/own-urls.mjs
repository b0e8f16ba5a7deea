// Sources name files by `new URL("../../workers/…", import.meta.url)`. Modules of the bundle have the bundle's root as
// their URL, because a chunk holds sources of many folders. So each such path is written as the path from the root.

import { readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

const OWN_URL = /new URL\((["`])(\.{1,2}\/[^"`]+)\1, ?import\.meta\.url\)/g;

/** A plugin of esbuild for the compiled sources below `folder`. */
export function ownUrls(folder) {
  return {
    name: "paths from the root of the code",
    setup(build) {
      build.onLoad({ filter: /\.js$/ }, async ({ path }) => {
        if (!path.startsWith(`${folder}/`)) return undefined;
        const text = await readFile(path, "utf8");
        if (!text.includes("import.meta.url")) return undefined;
        const place = relative(folder, dirname(path));
        const contents = text.replaceAll(
          OWN_URL,
          (_all, quote, named) => `new URL(${quote}./${join(place, named)}${quote}, import.meta.url)`,
        );
        return { contents, loader: "js" };
      });
    },
  };
}
