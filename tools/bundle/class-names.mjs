// Packages that ask a class for its name: the bundle's names are short, so they ask otherwise.
// test/tools/bundle/stacks.test.ts has the list of all places that read such a name.

import { readFile } from "node:fs/promises";

const READS = [
  {
    file: /\/@peculiar\/asn1-schema\/build\/cjs\/parser\.js$/,
    read: 'constructor.name === "Sequence"',
    // asn1js gives each class the name of its type.
    instead: 'constructor.NAME === "SEQUENCE"',
  },
];

/** A plugin of esbuild. The build fails if a package does not ask any more as it did. */
export const classNames = {
  name: "names of classes in packages",
  setup(build) {
    for (const { file, read, instead } of READS) {
      build.onLoad({ filter: file }, async ({ path }) => {
        const text = await readFile(path, "utf8");
        if (!text.includes(read)) throw new Error(`${path} has no ${read}: look at tools/bundle/class-names.mjs`);
        return { contents: text.replaceAll(read, instead), loader: "js" };
      });
    }
  },
};
