// A container's configuration cannot be made from its spec. The container shows waiting reason
// CreateContainerConfigError. The next sync tries again, because the missing piece (a key, an image user) may come.

export class CreateContainerConfigError extends Error {
  readonly reason = "CreateContainerConfigError";
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CreateContainerConfigError";
  }
}
