// Requests for streams that wait for their client: each URL works once, and only for a short time.
// Source: https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/kubelet/pkg/cri/streaming/request_cache.go

import { randomBytes } from "node:crypto";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { Fault } from "../fault.js";

const LIFETIME_MS = 60_000;
const MAX_WAITING = 1000;
const TOKEN_BYTES = 16;

export class Tokens<Request> {
  /** In the order of their expiry. */
  private readonly waiting = new Map<string, { request: Request; expires: number }>();

  constructor(private readonly clock: Pick<Clock, "monotonic">) {}

  /** Bytes of the token are letters, digits, "-" and "_". @throws Fault if too many requests wait */
  add(request: Request): string {
    this.dropExpired();
    if (this.waiting.size >= MAX_WAITING)
      throw new Fault("RESOURCE_EXHAUSTED", "maximum number of in-flight requests exceeded");
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    this.waiting.set(token, { request, expires: this.clock.monotonic() + LIFETIME_MS });
    return token;
  }

  /** Undefined: there is no such token, it was used, or it expired. */
  take(token: string): Request | undefined {
    this.dropExpired();
    const found = this.waiting.get(token);
    this.waiting.delete(token);
    return found?.request;
  }

  private dropExpired(): void {
    const now = this.clock.monotonic();
    for (const [token, { expires }] of this.waiting) {
      if (expires > now) return;
      this.waiting.delete(token);
    }
  }
}
