// The JSON of a large status, made once: the comparison with the last status and the server's threads use the same
// text. The status of a pod with ten thousand containers is a megabyte. Of its long lists each element has a text of
// its own, so that one that changed costs no text of the others.
// Invariant: a status never changes. Texts of small statuses are not kept: a node may have thousands of ended pods.

import { oncePer } from "../../shared/base/objects/once-per.js";
import { inSteps } from "../../shared/base/turns/loop-share.js";
import type { PodStatus } from "../../shared/kubernetes/api/pod-status.js";
import { digitsOf, textWithDigits } from "../../shared/kubernetes/api/wide-integers.js";

/** Characters from which on a text is kept as long as its status. */
const LARGE = 32_768;
/** Length of a list from which on the work on each of its elements is kept. */
const LONG = 64;
const texts = new WeakMap<PodStatus, string>();

/** The list is so long that its elements are worked on one by one. */
export function isLong(list: readonly unknown[]): boolean {
  return list.length > LONG;
}

/** The JSON of an element of a long list, made once. */
export const textOfPart = oncePer((part: object): string => JSON.stringify(part));

export function statusText(status: PodStatus): string {
  let text = texts.get(status);
  if (text === undefined) {
    const digits = digitsOf(status);
    text = digits === undefined ? textByParts(status) : textWithDigits(status, digits);
    if (text.length >= LARGE) texts.set(status, text);
  }
  return text;
}

/** Elements whose texts are made in one turn of the loop. */
const TEXTS_AT_ONCE = 250;

/** Makes the texts of the elements of a status' long lists ahead, in steps. */
export function* textsAhead(status: PodStatus): Generator<void, void> {
  for (const list of listsOf(status).filter(isLong)) yield* inSteps<object>(list, TEXTS_AT_ONCE, textOfPart);
}

function listsOf({ containerStatuses, initContainerStatuses, ephemeralContainerStatuses }: PodStatus) {
  return [containerStatuses, initContainerStatuses, ephemeralContainerStatuses].filter((list) => list !== undefined);
}

/** As JSON.stringify. */
function textByParts(status: PodStatus): string {
  const lists = listsOf(status);
  if (!lists.some(isLong)) return JSON.stringify(status);
  const members = Object.entries(status).filter(([, value]: [string, unknown]) => value !== undefined);
  const written = members.map(([name, value]: [string, unknown]) => {
    const isList = Array.isArray(value) && lists.some((list) => list === value);
    const text = isList ? `[${(value as object[]).map(textOfPart).join(",")}]` : JSON.stringify(value);
    return `${JSON.stringify(name)}:${text}`;
  });
  return `{${written.join(",")}}`;
}
