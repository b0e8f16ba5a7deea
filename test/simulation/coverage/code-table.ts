// The agent's code that all seeds of a command have reached, by folder: lines of the bundle, which names the source of
// each part.

/** Depth of the folders that are reported: src/main/pods. */
const DEPTH = 3;
const SOURCE = /^\/\/ (\S+\.(?:[cm]?[jt]s|json))$/;
const NO_CODE = /^\s*($|\/\/|\/\*|\*|[})\]]*[;,]?$)/;

interface Folder {
  lines: number;
  reached: number;
}

export class CodeTable {
  /** Folder of each line of the agent's code; undefined: another line. */
  private readonly folders: readonly (string | undefined)[];
  private readonly isReached: Uint8Array;

  constructor(bundle: string) {
    let folder: string | undefined;
    this.folders = bundle.split("\n").map((line) => {
      const source = SOURCE.exec(line)?.[1];
      if (source !== undefined) folder = folderOf(source);
      return NO_CODE.test(line) ? undefined : folder;
    });
    this.isReached = new Uint8Array(this.folders.length);
  }

  /** @param parts as linesReached gives them @returns lines that no seed before has reached */
  add(parts: readonly number[]): number {
    let fresh = 0;
    for (let at = 0; at + 1 < parts.length; at += 2) {
      const [from = 0, count = 0] = [parts[at], parts[at + 1]];
      for (let line = from; line < from + count; line++) {
        if (this.folders[line] === undefined || this.isReached[line] === 1) continue;
        this.isReached[line] = 1;
        fresh++;
      }
    }
    return fresh;
  }

  lines(): string[] {
    const folders = new Map<string, Folder>();
    const all: Folder = { lines: 0, reached: 0 };
    this.folders.forEach((name, line) => {
      if (name === undefined) return;
      const folder = folders.get(name) ?? { lines: 0, reached: 0 };
      folders.set(name, folder);
      for (const sum of [folder, all]) {
        sum.lines++;
        sum.reached += this.isReached[line] ?? 0;
      }
    });
    const named = [...folders].sort(([one], [other]) => (one < other ? -1 : 1));
    return [
      `code: ${shareOf(all)} of the agent's lines`,
      ...named.map(([name, folder]) => `  ${name.padEnd(36)}${shareOf(folder)}`),
    ];
  }
}

/** Undefined: not the agent's. */
function folderOf(source: string): string | undefined {
  return source.startsWith("src/") ? source.split("/").slice(0, -1).slice(0, DEPTH).join("/") : undefined;
}

function shareOf({ lines, reached }: Folder): string {
  return `${lines === 0 ? 0 : Math.round((100 * reached) / lines)} % (${reached} of ${lines})`;
}
