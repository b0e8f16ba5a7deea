// A fault that is put into the agent on purpose, to show that the simulation finds it.

export interface Mutant {
  name: string;
  /** Source, from the root of the repository. */
  file: string;
  /** It must be there exactly once. */
  text: string;
  replacement: string;
}
