// A request's body, whole: bounded in size, time and number.

import type { IncomingMessage } from "node:http";
import type { Clock } from "../../../shared/base/clock/clock.js";
import type { ManifestRefusal } from "../../../shared/contracts/manifests.js";
import { wantBody } from "./http1/bodies.js";

/** Time to receive one body, ms: 10 MiB at 350 KiB/s. */
const DEADLINE_MS = 30_000;

export interface BodyLimits {
  /** Most bytes of one body. */
  bytes: number;
  /** Bodies in memory at once. */
  atOnce: number;
  /** What bodies are, for messages. */
  what: string;
}

/** The body is not used; the refusal is the response. */
export class BodyError extends Error {
  override readonly name = "BodyError";
  constructor(readonly refusal: ManifestRefusal) {
    super(refusal.message);
  }
}

export class Bodies {
  private reading = 0;

  constructor(
    private readonly clock: Clock,
    private readonly limits: BodyLimits,
  ) {}

  /**
   * Calls `use` with the body, which counts as in memory until `use` has ended. Rejects with BodyError, with the
   * request's own error when the client breaks off, or as `use` does.
   */
  async read<T>(request: IncomingMessage, use: (body: Uint8Array) => Promise<T>): Promise<T> {
    const { bytes, atOnce, what } = this.limits;
    if (Number(request.headers["content-length"] ?? 0) > bytes) throw tooLarge(bytes);
    if (this.reading >= atOnce) {
      throw new BodyError({
        code: 429,
        reason: "TooManyRequests",
        message: `${atOnce} ${what} are being sent already`,
      });
    }
    this.reading++;
    try {
      return await use(await this.whole(request));
    } finally {
      this.reading--;
    }
  }

  private async whole(request: IncomingMessage): Promise<Uint8Array> {
    const chunks: Buffer[] = [];
    let length = 0;
    wantBody(request);
    await new Promise<void>((resolve, reject) => {
      const late = this.clock.after(DEADLINE_MS, () => {
        const message = `the request's body did not arrive within ${DEADLINE_MS / 1000} s`;
        settle(() => reject(new BodyError({ code: 408, reason: "Timeout", message })));
      });
      const onData = (chunk: Buffer): void => {
        length += chunk.byteLength;
        if (length > this.limits.bytes) settle(() => reject(tooLarge(this.limits.bytes)));
        else chunks.push(chunk);
      };
      const onEnd = (): void => settle(resolve);
      const onError = (error: Error): void => settle(() => reject(error));
      const onClose = (): void => onError(new Error("the client closed the connection before the end of its request"));
      const settle = (result: () => void): void => {
        late.cancel();
        // What still arrives is dropped until the connection ends with the response.
        request.off("data", onData).off("end", onEnd).off("close", onClose);
        result();
      };
      request.on("data", onData).on("end", onEnd).on("error", onError).on("close", onClose);
    });
    const body = new Uint8Array(length);
    let offset = 0;
    for (const chunk of chunks) {
      body.set(chunk, offset);
      offset += chunk.byteLength;
    }
    return body;
  }
}

function tooLarge(bytes: number): BodyError {
  const message = `the request's body is larger than ${bytes / 1024 / 1024} MiB`;
  return new BodyError({ code: 413, reason: "RequestEntityTooLarge", message });
}
