/**
 * The server's response is not HTTP, or broke off. `part`: the head counts as no response at all, a broken body as half
 * of one.
 */
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

/** The head is longer than ours may be. Upstream's client reads more, so it proves nothing about the server. */
export class HeadLimitError extends ReplyError {
  constructor(bytes: number) {
    super("head", `net/http: server response headers exceeded ${bytes} bytes; aborted`);
  }
}
