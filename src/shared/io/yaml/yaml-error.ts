/** A text that is not YAML as Kubernetes reads it. */
export class YamlError extends Error {
  override readonly name = "YamlError";
  /** The place of the problem, set by the reader. */
  line = 1;
  column = 1;

  constructor(
    message: string,
    /** Where the problem is, as an index in the text. */
    readonly offset: number,
    /** A limit was exceeded: the text may be correct YAML. */
    readonly limit = false,
  ) {
    super(message);
  }
}
