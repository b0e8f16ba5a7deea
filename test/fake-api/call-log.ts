// One entry per request, in the order they came in, and counts that outlive the entries. Tests count requests a minute.

export interface ApiCall {
  verb: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  /** With the query. */
  path: string;
  userAgent: string;
  user: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** HTTP status; 0 while it runs, and when the connection was dropped instead. */
  code: number;
  /** Milliseconds until it was answered; for a watch until it ended. */
  durationMs: number;
  /** Bytes of the body that the client sent. */
  requestBytes: number;
  /** Media type of that body; "" without one. */
  requestType: string;
  /** Content-Type of the answer; "" while it runs. */
  answerType: string;
  /** Bytes of the answer's body before it is compressed; for a watch those of all events so far. */
  answerBytes: number;
  /** Number of events of a watch so far, bookmarks included. */
  events: number;
}

export type CallMatch = Partial<Pick<ApiCall, "verb" | "resource" | "subresource" | "namespace" | "name" | "user">> & {
  /** Part of the user agent. */
  userAgent?: string;
  /** Matches the path with its query. */
  path?: RegExp;
  code?: number;
};

/** Entries kept. */
const LIMIT = 100_000;

export class CallLog {
  readonly entries: ApiCall[] = [];
  readonly #counts = new Map<string, number>();

  add(call: ApiCall): void {
    this.entries.push(call);
    if (this.entries.length > LIMIT) this.entries.splice(0, LIMIT / 10);
    const key = keyOf(call);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  matching(match: CallMatch, since = 0): ApiCall[] {
    return this.entries.filter((call) => call.at >= since && matches(call, match));
  }

  count(match: CallMatch = {}, since = 0): number {
    return this.matching(match, since).length;
  }

  /** "verb resource[/subresource] user-agent" to how many there were since the start or the last clear(). */
  counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  clear(): void {
    this.entries.length = 0;
    this.#counts.clear();
  }
}

function keyOf({ verb, resource, subresource, userAgent }: ApiCall): string {
  return `${verb} ${resource}${subresource === "" ? "" : `/${subresource}`} ${userAgent}`;
}

export function matches(call: Omit<ApiCall, "code"> & { code?: number }, match: CallMatch): boolean {
  return Object.entries(match).every(([field, wanted]) => {
    const value: unknown = Reflect.get(call, field);
    if (wanted instanceof RegExp) return wanted.test(call.path);
    return field === "userAgent" ? call.userAgent.includes(String(wanted)) : value === wanted;
  });
}
