import { YamlError } from "./yaml-error.js";

/** Up to here nearly everything may come from aliases, above the part shrinks. */
const FREE_STEPS = 400_000;
const LARGE_STEPS = 4_000_000;

/** How much of a document may come from aliases, by the steps of decoding, as go-yaml bounds it. */
export class AliasBudget {
  steps = 0;
  private aliased = 0;

  /** Throws YamlError. */
  spend(steps: number, isAliased: boolean, offset: number): void {
    this.steps += steps;
    if (isAliased) this.aliased += steps;
    if (this.aliased <= 100 || this.steps <= 1000) return;
    if (this.aliased / this.steps > allowedPart(this.steps)) {
      throw new YamlError("most of the document comes from aliases, more than allowed", offset, true);
    }
  }
}

function allowedPart(steps: number): number {
  if (steps <= FREE_STEPS) return 0.99;
  if (steps >= LARGE_STEPS) return 0.1;
  return 0.99 - 0.89 * ((steps - FREE_STEPS) / (LARGE_STEPS - FREE_STEPS));
}
