// Made-up kernel files: texts by path, as a reader of the stats routes sees them.

import type { ListDirectories, ReadText } from "../../../../src/shared/node/stats/kernel-file.js";

export class KernelTree {
  constructor(readonly files: Record<string, string>) {}

  readonly read: ReadText = (path) => this.files[path];

  readonly list: ListDirectories = (path) => {
    const names = Object.keys(this.files).flatMap((file) =>
      file.startsWith(`${path}/`) && file.slice(path.length + 1).includes("/")
        ? [file.slice(path.length + 1).split("/")[0] ?? ""]
        : [],
    );
    return [...new Set(names)];
  };
}
