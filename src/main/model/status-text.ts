// The JSON of a large status, made once: the comparison with the last status and the server's threads use the same
// text. The status of a pod with ten thousand containers is a megabyte.
// Invariant: a status never changes. Texts of small statuses are not kept: a node may have thousands of ended pods.

import type { PodStatus } from "../../shared/kubernetes/api/pod-status.js";
import { digitsOf, textWithDigits } from "../../shared/kubernetes/api/wide-integers.js";

/** Characters from which on a text is kept as long as its status. */
const LARGE = 32_768;
const texts = new WeakMap<PodStatus, string>();

export function statusText(status: PodStatus): string {
  let text = texts.get(status);
  if (text === undefined) {
    text = textWithDigits(status, digitsOf(status));
    if (text.length >= LARGE) texts.set(status, text);
  }
  return text;
}
