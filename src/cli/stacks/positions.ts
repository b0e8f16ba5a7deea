// Where a position of the bundle's packs and chunks is in the sources (docs/adr/0132). The build writes the file
// (tools/bundle/positions.mjs), and the packages carry it. Names of scripts contain a hash of their text: a position of
// another version is unknown, never wrong.

import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { isRecord } from "../../shared/base/text/is-record.js";
import { decodeMappings, type Segment } from "./mappings.js";

/** Lines and columns from 1, as a stack has them. */
export interface Place {
  /** From the root of the repository: "src/main/…". */
  source: string;
  line: number;
  column: number;
  /** "Class.method" or "function"; "" if it has no name. */
  name: string;
}

/** Where the text of a module begins in a script, and its number. */
type Part = readonly [line: number, column: number, module: number];

interface Module {
  sources: readonly string[];
  names: readonly string[];
  mappings: string;
}

interface Content {
  scripts: Readonly<Record<string, readonly Part[]>>;
  modules: readonly Module[];
}

const FILE = new URL("../../positions.json.gz", import.meta.url);
const VERSION = 1;
/** Ten times what the build writes. */
const MAX_PLAIN_BYTES = 64 * 1024 * 1024;

export class Positions {
  private readonly decoded = new Map<number, Segment[]>();

  constructor(private readonly content: Content) {}

  /** @param path default: the file of this command's own version. Rejects if there is none, or if it is damaged. */
  static async read(path: string | URL = FILE): Promise<Positions> {
    const plain = await promisify(gunzip)(await readFile(path), { maxOutputLength: MAX_PLAIN_BYTES });
    const content: unknown = JSON.parse(plain.toString("utf8"));
    if (!isRecord(content) || content["version"] !== VERSION) {
      throw new Error(`it has no positions of a form that this version reads (${VERSION})`);
    }
    return new Positions(content as unknown as Content);
  }

  /**
   * @param script from the bundle's root: "packs/…", "main/chunks/…"
   * @param line and column from 1
   */
  find(script: string, line: number, column: number): Place | undefined {
    const parts = Object.hasOwn(this.content.scripts, script) ? this.content.scripts[script] : undefined;
    const part = parts?.findLast(([at, from]) => at < line - 1 || (at === line - 1 && from < column));
    if (part === undefined) return undefined;
    const [partLine, partColumn, number] = part;
    const module = this.content.modules[number];
    if (module === undefined) return undefined;
    const own = line - 1 - partLine;
    return this.placeIn(module, number, own, own === 0 ? column - 1 - partColumn : column - 1);
  }

  private placeIn(module: Module, number: number, line: number, column: number): Place | undefined {
    const segments = this.segmentsOf(module, number);
    const index = lastUpTo(segments, line, column);
    const segment = segments[index];
    const source = segment === undefined ? undefined : module.sources[segment.source];
    if (segment === undefined || source === undefined) return undefined;
    let at = index;
    while (at > 0 && segments[at]?.name === undefined) at--;
    const name = module.names[segments[at]?.name ?? -1] ?? "";
    return { source, line: segment.sourceLine + 1, column: segment.sourceColumn + 1, name };
  }

  private segmentsOf({ mappings }: Module, number: number): Segment[] {
    let segments = this.decoded.get(number);
    if (segments === undefined) {
      segments = decodeMappings(mappings);
      this.decoded.set(number, segments);
    }
    return segments;
  }
}

/** Index of the last segment at or before the place; -1: none. */
function lastUpTo(segments: readonly Segment[], line: number, column: number): number {
  let [low, high] = [0, segments.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const segment = segments[middle];
    if (segment !== undefined && (segment.line < line || (segment.line === line && segment.column <= column))) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - 1;
}
