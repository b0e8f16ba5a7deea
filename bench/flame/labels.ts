// Names for the frames of a CPU profile: the source file and line of our own functions, by the bundle's source maps;
// the package or the module of others.

import { existsSync, readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { CallFrame, Label } from "./stacks.js";

/** The names with which V8 marks frames that are no functions. */
const V8 = new Map([
  ["(garbage collector)", "garbage collection"],
  ["(program)", "V8, libuv and the kernel"],
]);

export class Labels {
  private readonly maps = new Map<string, SourceMap | undefined>();

  /** undefined: the frame of V8's that only joins others. */
  of(frame: CallFrame): Label | undefined {
    const { functionName, url } = frame;
    const special = V8.get(functionName);
    if (special !== undefined) return { name: special, folder: "v8" };
    if (functionName === "(root)") return undefined;
    const name = functionName === "" ? "(anonymous)" : functionName;
    if (url.startsWith("node:")) return { name: `${name} ${url}`, folder: "node" };
    // Functions of C++ that JavaScript calls.
    if (url === "") return { name, folder: "native" };
    const source = this.sourceOf(frame) ?? url;
    const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1];
    if (inPackage !== undefined) return { name: `${name} ${inPackage}`, folder: "packages" };
    const path = /(?:^|\/)src\/(.*)$/.exec(source)?.[1] ?? basename(source);
    return { name: `${name} ${path}`, folder: path.split("/").slice(0, -1).slice(0, 3).join("/") };
  }

  private sourceOf({ url, lineNumber, columnNumber }: CallFrame): string | undefined {
    const found = this.mapOf(url)?.findEntry(lineNumber, columnNumber);
    return found !== undefined && "originalSource" in found ? found.originalSource : undefined;
  }

  private mapOf(url: string): SourceMap | undefined {
    if (this.maps.has(url)) return this.maps.get(url);
    const path = `${url.startsWith("file:") ? fileURLToPath(url) : url}.map`;
    const map = existsSync(path)
      ? new SourceMap(JSON.parse(readFileSync(path, "utf8")) as SourceMapPayload)
      : undefined;
    this.maps.set(url, map);
    return map;
  }
}
