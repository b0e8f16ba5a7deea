// JSON of other people. JSON.parse takes about 20 ms per MiB, but 100 ms where each character opens an array or object.
// The kubelet refuses JSON that nests deeper than 10,000 levels, as Go's decoder does in API server and kubectl.

import { nestsDeeper } from "./nesting.js";

const MAX_DEPTH = 10_000;
/** Shorter texts are quick at any depth. */
const SHORT_TEXT = 64 * 1024;

/** As JSON.parse. @throws SyntaxError, also for values that are nested too deep */
export function parseJson(text: string): unknown {
  if (text.length > SHORT_TEXT && nestsDeeper(text, MAX_DEPTH)) {
    throw new SyntaxError(`the JSON is nested deeper than ${MAX_DEPTH} levels`);
  }
  return JSON.parse(text);
}
