// Encoded replies of the lists of sandboxes and containers, which most relists get unchanged. Encoding and decoding
// them again would be a tenth of the simulation's time.
// Invariant: a reply is used again only if no call that may change something was under way since it was made.

/** Whose replies depend on nothing but sandboxes and containers. */
export const LISTS: ReadonlySet<string> = new Set(["ListContainers", "ListPodSandbox"]);
const READS = new Set([
  "Status",
  "Version",
  "ContainerStatus",
  "PodSandboxStatus",
  "ExecSync",
  "ImageStatus",
  "ListImages",
]);

interface ListCall {
  /** The reply's bytes. */
  encoded(encode: () => Buffer): Buffer;
  end(): void;
}

const AS_IT_IS: ListCall = { encoded: (encode) => encode(), end: () => undefined };

export class ListReplies {
  private version = 0;
  private changing = 0;
  private readonly replies = new Map<string, Buffer>();

  /** A sandbox or container changed. */
  changed(): void {
    this.version++;
    this.replies.clear();
  }

  begin(verb: string, request: Buffer): ListCall {
    if (READS.has(verb)) return AS_IT_IS;
    if (!LISTS.has(verb)) {
      this.changing++;
      this.changed();
      return {
        encoded: (encode) => encode(),
        end: () => {
          this.changing--;
          this.changed();
        },
      };
    }
    const { version } = this;
    const key = `${verb} ${request.toString("latin1")}`;
    return {
      encoded: (encode) => {
        if (this.version !== version || this.changing > 0) return encode();
        const bytes = this.replies.get(key) ?? encode();
        this.replies.set(key, bytes);
        return bytes;
      },
      end: () => undefined,
    };
  }
}
