// Sizes of the client's terminal: JSON objects, one after the other.

import type { ClientStream } from "./client-stream.js";

/** In characters. */
export interface TerminalSize {
  readonly width: number;
  readonly height: number;
}

const MAX_TEXT = 1024;
const MAX_SIZE = 65_535;

/** Complete objects at the beginning of `text`, and the rest. Objects of another form are left out. Pure. @internal */
export function takeSizes(text: string): { sizes: TerminalSize[]; rest: string } {
  const end = text.lastIndexOf("}") + 1;
  const sizes = text
    .slice(0, end)
    .split("}")
    .flatMap((part) => {
      const width = /"Width"\s*:\s*(\d{1,5})\b/.exec(part)?.[1];
      const height = /"Height"\s*:\s*(\d{1,5})\b/.exec(part)?.[1];
      if (width === undefined || height === undefined) return [];
      return [{ width: Math.min(Number(width), MAX_SIZE), height: Math.min(Number(height), MAX_SIZE) }];
    });
  return { sizes, rest: text.slice(end).slice(-MAX_TEXT) };
}

/** Sets each size, one at a time; of those that come meanwhile, only the newest. Runs until the stream ends. */
export function readSizes(
  stream: ClientStream,
  set: (size: TerminalSize) => Promise<void>,
  onError: (error: unknown) => void,
): void {
  let text = "";
  let next: TerminalSize | undefined;
  let isSetting = false;
  const work = async (): Promise<void> => {
    isSetting = true;
    while (next !== undefined) {
      const size = next;
      next = undefined;
      await set(size).catch(onError);
    }
    isSetting = false;
  };
  stream.on("data", (part: Buffer) => {
    const { sizes, rest } = takeSizes(text + part.toString("latin1"));
    text = rest;
    next = sizes.at(-1) ?? next;
    if (!isSetting) void work();
  });
}
