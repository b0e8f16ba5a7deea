// Every handler of an event of a connection has an owner: the connection.
// Invariant: an error thrown in a handler, or a rejection of its promise, ends its connection and nothing else.

/** A socket, a stream or a session. */
export interface Owner {
  destroy(error?: Error): unknown;
}

/** A defect of this program, not of the client: the connection's error handler writes it to the log. */
export class HandlerError extends Error {
  override readonly name = "HandlerError";
}

/** @returns the handler, with its errors ending the owner */
export function ownedBy<Args extends unknown[]>(
  owner: Owner,
  handler: (...args: Args) => void | Promise<void>,
): (...args: Args) => void {
  return (...args) => run(() => owner, handler, args);
}

/** For handlers of a server: the first argument identifies the owner. */
export function ownedByFirst<First, Rest extends unknown[]>(
  ownerOf: (first: First) => Owner,
  handler: (first: First, ...rest: Rest) => void | Promise<void>,
): (first: First, ...rest: Rest) => void {
  return (...args) => run(() => ownerOf(args[0]), handler, args);
}

function run<Args extends unknown[]>(
  ownerOf: () => Owner,
  handler: (...args: Args) => void | Promise<void>,
  args: Args,
): void {
  const failed = (cause: unknown): void => {
    ownerOf().destroy(new HandlerError("a handler of this connection failed", { cause }));
  };
  try {
    // A handler that returns nothing by its type may still return something: `() => socket.resume()`.
    const result: unknown = handler(...args);
    if (result instanceof Promise) result.catch(failed);
  } catch (error) {
    failed(error);
  }
}
