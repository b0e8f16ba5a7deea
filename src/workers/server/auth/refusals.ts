// Logs refused requests: once per client (address and user) and minute, with the number of repetitions since then.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { networkOf } from "../clients/network.js";

const REPEAT_MS = 60_000;
const LIMIT = 1024;

export interface Refusal {
  /** Address of the client. */
  client: string;
  status: number;
  method: string;
  path: string;
  user?: string | undefined;
  why: string;
}

export class Refusals {
  private readonly clients = new Map<string, { loggedAt: number; since: number }>();

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly log: Pick<Logger, "warn">,
  ) {}

  request(refusal: Refusal): void {
    const repeated = this.repeated(`${refusal.client} ${refusal.user ?? ""}`);
    if (repeated === undefined) return;
    // A client chooses the path and its length.
    const fields = { ...refusal, path: refusal.path.slice(0, 256), ...repeated };
    this.log.warn(fields, `request refused: ${refusal.why}`);
  }

  /** A connection was closed before its first request; one line per network, as one client may have many addresses. */
  connection(client: string, why: string): void {
    const repeated = this.repeated(`connection of ${networkOf(client)}`);
    if (repeated !== undefined) this.log.warn({ client, ...repeated }, `connection refused: ${why}`);
  }

  /** undefined: the log has a line of this client already. */
  private repeated(key: string): { repeated?: number } | undefined {
    const now = this.clock.monotonic();
    const known = this.clients.get(key);
    if (known !== undefined && now - known.loggedAt < REPEAT_MS) {
      known.since++;
      return undefined;
    }
    this.clients.delete(key);
    this.clients.set(key, { loggedAt: now, since: 0 });
    const [oldest] = this.clients.keys();
    if (this.clients.size > LIMIT && oldest !== undefined) this.clients.delete(oldest);
    const repeated = known?.since ?? 0;
    return repeated === 0 ? {} : { repeated };
  }
}
