// Open watches: their number and what each may hold back are bounded.

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tooManyRequests } from "../objects/errors.js";
import type { ApiObject, Fields } from "../objects/object.js";
import { formOf, linesInForm } from "../printing/forms.js";
import { Watch, type WatchRequest, type WatchSink } from "../verbs/watch.js";
import type { World } from "../world.js";

export const MAX_WATCHES = 512;
/** A client that has not read so many bytes loses its watch. */
export const MAX_BEHIND_BYTES = 4 * 1024 * 1024;

export class Watches {
  readonly #open = new Set<Watch>();
  /** JSON of the last object: all watches of a change send the same. */
  #last: { object: ApiObject | Fields; text: string } | undefined;

  constructor(private readonly world: World) {}

  get size(): number {
    return this.#open.size;
  }

  async serve(asked: WatchRequest, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#open.size >= MAX_WATCHES) throw tooManyRequests(`${MAX_WATCHES} watches are open`, 1);
    const { store, clock } = this.world;
    const lines = linesInForm(formOf(request.headers.accept), asked.resource, asked.query, clock);
    const watch: Watch = new Watch(store, clock, asked, this.#sink(response, lines), () => this.#open.delete(watch));
    this.#open.add(watch);
    response.once("close", () => watch.end());
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private" });
    response.flushHeaders();
    await watch.start();
  }

  endAll(): void {
    for (const watch of [...this.#open]) watch.end();
  }

  #sink(response: ServerResponse, lines: (line: string) => string): WatchSink {
    return {
      write: (type, object) => {
        const line = `{"type":${JSON.stringify(type)},"object":${this.#textOf(object)}}\n`;
        response.write(lines(line));
        if (response.writableLength <= MAX_BEHIND_BYTES) return true;
        response.destroy();
        return false;
      },
      taken: async () => {
        if (response.writableLength <= response.writableHighWaterMark || response.closed) return;
        const over = new AbortController();
        const { signal } = over;
        const events = ["drain", "close"].map((name) => once(response, name, { signal }).catch(() => undefined));
        await Promise.race(events);
        over.abort();
      },
      end: () => response.end(),
    };
  }

  #textOf(object: ApiObject | Fields): string {
    if (this.#last?.object !== object) this.#last = { object, text: JSON.stringify(object) };
    return this.#last.text;
  }
}
