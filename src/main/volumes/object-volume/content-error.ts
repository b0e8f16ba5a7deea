// Several problems of one volume in one message, in upstream's form: "[first, second]"; a repeated problem is listed
// once.

import { messageOf } from "../../../shared/base/errors/thrown.js";
import { VolumeError } from "../volume-error.js";

function volumeContentError(problems: readonly unknown[]): VolumeError {
  const texts = [...new Set(problems.map(messageOf))];
  return new VolumeError(texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`, { cause: problems[0] });
}

/** One problem is itself. */
export function together(problems: readonly unknown[]): Error {
  const [first] = problems;
  return problems.length === 1 && first instanceof Error ? first : volumeContentError(problems);
}
