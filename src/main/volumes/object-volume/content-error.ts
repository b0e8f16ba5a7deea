// Several problems of one volume in one message, in upstream's form: "[first, second]"; a repeated problem is listed
// once.

import { messageOf } from "../../../shared/errors/thrown.js";

class VolumeContentError extends Error {
  override readonly name = "VolumeContentError";
  constructor(readonly problems: readonly unknown[]) {
    const texts = [...new Set(problems.map(messageOf))];
    super(texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`, { cause: problems[0] });
  }
}

/** One problem is itself. */
export function together(problems: readonly unknown[]): Error {
  const [first] = problems;
  return problems.length === 1 && first instanceof Error ? first : new VolumeContentError(problems);
}
