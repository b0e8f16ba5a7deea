// Removing something that does not exist is no error.

import { errorCode } from "./error-code.js";

/** undefined where there was no such file. */
export async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    return undefined;
  }
}
