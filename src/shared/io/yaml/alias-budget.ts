import { YamlError } from "./yaml-error.js";

/** Up to here nearly everything may come from aliases, above the part shrinks. */
const FREE_STEPS = 400_000;
const LARGE_STEPS = 4_000_000;

/** Characters of texts that aliases repeat. They are shared here, and written out by what copies the document. */
const MAX_CHARACTERS = 10 * 1024 * 1024;

/** How much of a document may come from aliases: steps of decoding, as go-yaml bounds them, and characters. */
export class AliasBudget {
  steps = 0;
  /** Length of all texts, each as often as it occurs. */
  characters = 0;
  private aliased = 0;
  private aliasedCharacters = 0;

  /** Throws YamlError. */
  spendText(characters: number, isAliased: boolean, offset: number): void {
    this.characters += characters;
    if (isAliased) this.aliasedCharacters += characters;
    if (this.aliasedCharacters <= MAX_CHARACTERS) return;
    throw new YamlError(`aliases repeat more than ${MAX_CHARACTERS} characters`, offset, true);
  }

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
