// Notices that the API server is back after it was away, for callers in a long back-off.
// Invariant: a server that only fails now and then wakes no caller, because each wake-up would be one more request.

import type { Clock } from "../../../../base/clock/clock.js";
import { abortReason } from "../../../../base/errors/thrown.js";
import { CredentialError } from "../credentials/errors.js";
import { ApiConnectionError } from "../errors.js";
import { type Wire, type WireRequest, type WireResponse } from "./wire.js";

/** After a shorter absence the server returns before the first waits end. */
const LEAST_AWAY_MS = 2000;

/** Notifications that the server is reachable again. */
export interface Returns {
  /** @returns ends the subscription */
  onReturn(listener: () => void): () => void;
}

export class Presence implements Wire, Returns {
  private away: number | undefined;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly wire: Wire,
    private readonly clock: Pick<Clock, "monotonic">,
  ) {}

  /** Monotonic moment of the first failure since the last success; undefined: the server responds. */
  get awaySince(): number | undefined {
    return this.away;
  }

  onReturn(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Another client of this process received a response. */
  seenElsewhere(): void {
    if (this.away !== undefined) this.notify();
  }

  async send(request: WireRequest, signal: AbortSignal): Promise<WireResponse> {
    try {
      const response = await this.wire.send(request, signal);
      this.answered(response.status);
      return response;
    } catch (error) {
      // A call that the caller aborts proves nothing about the server.
      const isLate = signal.aborted && abortReason(signal) instanceof ApiConnectionError;
      if (isLate || !(signal.aborted || error instanceof CredentialError)) this.failed();
      throw error;
    }
  }

  /** A server that starts refuses for a while: only a success is one. */
  private answered(status: number): void {
    if (status === 429 || status >= 500) this.failed();
    else if (status < 300) this.well();
  }

  private failed(): void {
    this.away ??= this.clock.monotonic();
  }

  private well(): void {
    const { away: awaySince } = this;
    this.away = undefined;
    if (awaySince !== undefined && this.clock.monotonic() - awaySince >= LEAST_AWAY_MS) this.notify();
  }

  private notify(): void {
    for (const listener of [...this.listeners]) listener();
  }
}
