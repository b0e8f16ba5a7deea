/** The server's response is not HTTP, or broke off. `part`: the head counts as no response at all, a broken body as half of one. */
export class ReplyError extends Error {
  override readonly name = "ReplyError";
  constructor(
    readonly part: "head" | "body",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
