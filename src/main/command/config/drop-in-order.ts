// The files of --config-dir that count, and their order: every *.conf below it, in the order of Go's WalkDir. It walks
// folder by folder and compares names by their bytes. Other files are skipped, as upstream skips them.

const EXTENSION = /\.conf$/;

/** `files`: paths of all files below the directory, relative to it, with "/" between the parts. */
export function dropInOrder(files: readonly string[]): string[] {
  return files
    .filter((file) => EXTENSION.test(file))
    .map((file) => file.split("/").map((part) => Buffer.from(part)))
    .sort(byParts)
    .map((parts) => parts.join("/"));
}

function byParts(a: readonly Buffer[], b: readonly Buffer[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index];
    const order = other === undefined ? 1 : part.compare(other);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}
