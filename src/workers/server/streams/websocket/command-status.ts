// Exit status of a command on the error channel: the runtime's Status, or one that the kubelet creates.

/** The runtime's are a few hundred bytes. */
const MAX_STATUS = 64 * 1024;

export class CommandStatus {
  private readonly parts: Buffer[] = [];
  private size = 0;

  /** Adds data of the runtime's error stream. */
  add(part: Buffer): void {
    this.size += part.length;
    if (this.size <= MAX_STATUS) this.parts.push(part);
  }

  /** The runtime closed its error stream: its Status unchanged, or success if it sent none. */
  said(): Buffer {
    if (this.size === 0) return Buffer.from(JSON.stringify({ metadata: {}, status: "Success" }));
    const text = Buffer.concat(this.parts);
    if (this.size > MAX_STATUS || !isStatus(text)) return failed("the runtime's result of the command is not a Status");
    return text;
  }
}

/** A Status with upstream's text for a failure between the kubelet and the runtime. */
export function failed(why: string): Buffer {
  return Buffer.from(
    JSON.stringify({
      metadata: {},
      status: "Failure",
      message: `Internal error occurred: ${why}`,
      reason: "InternalError",
      details: { causes: [{ message: why }] },
      code: 500,
    }),
  );
}

function isStatus(text: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(text.toString("utf8"));
    return typeof value === "object" && value !== null && "status" in value;
  } catch {
    return false;
  }
}
