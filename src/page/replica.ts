// The map that the server thread keeps equal in this page, by one stream of server-sent events. Connects again by
// itself.

import type { PageUpdate } from "../shared/contracts/status-page.js";
import type { Connection, Heard } from "./freshness.js";

const RETRY_MS = 5000;

export class Replica implements Heard {
  readonly entries = new Map<string, unknown>();
  connection: Connection = "connecting";
  heardAt: number | undefined;
  private source: EventSource | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;

  /** @param path relative to the page */
  constructor(
    private readonly path: string,
    private readonly changed: () => void,
  ) {}

  /** Does nothing while it is open. */
  open(): void {
    if (this.source !== undefined || this.retry !== undefined) return;
    const source = new EventSource(this.path);
    this.source = source;
    let isNew = true;
    source.onopen = () => {
      isNew = true;
      this.connection = "live";
      this.changed();
    };
    source.onmessage = (event: MessageEvent<string>) => {
      const update = JSON.parse(event.data) as PageUpdate;
      this.heardAt = Date.now();
      // A stream begins empty. What is shown stays until the new data are here.
      if (isNew && update.length > 0) {
        isNew = false;
        this.entries.clear();
      }
      for (const [key, value] of update) {
        if (value === null) this.entries.delete(key);
        else this.entries.set(key, value);
      }
      this.changed();
    };
    source.onerror = () => {
      this.connection = "lost";
      this.changed();
      // A refused stream is not tried again by the browser.
      if (source.readyState !== EventSource.CLOSED) return;
      this.end();
      this.retry = setTimeout(() => {
        this.retry = undefined;
        this.open();
      }, RETRY_MS);
    };
  }

  close(): void {
    this.end();
    this.connection = "connecting";
  }

  /** The value as the server sent it: its type is the key's (shared/contracts/status-page.ts). */
  get(key: string): unknown {
    return this.entries.get(key);
  }

  withPrefix(prefix: string): unknown[] {
    return [...this.entries].flatMap(([key, value]) => (key.startsWith(prefix) ? [value] : []));
  }

  private end(): void {
    clearTimeout(this.retry);
    this.retry = undefined;
    this.source?.close();
    this.source = undefined;
  }
}
