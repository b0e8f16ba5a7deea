// The binding under this room, loaded at the first system call: a thread that makes none pays nothing.
// Invariant: nothing outside this room sees koffi.
import { createRequire } from "node:module";
import type koffi from "koffi";
import { NativeBindingError } from "./errors.js";

export type Binding = typeof koffi;

let loaded: Binding | undefined;

/** Throws NativeBindingError. The first call of a thread reads the binding from disk (some ms): make it at start-up. */
export function binding(): Binding {
  if (loaded !== undefined) return loaded;
  try {
    // Not import(): callers such as flock are synchronous, and CommonJS loads in half the time.
    loaded = createRequire(import.meta.url)("koffi") as Binding;
    return loaded;
  } catch (error) {
    throw new NativeBindingError(error);
  }
}
