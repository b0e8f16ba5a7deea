// How old the shown data are. A kubelet that is stopped keeps its connections: only its silence shows it. Pure.

export type Connection = "connecting" | "live" | "lost";

export interface Heard {
  connection: Connection;
  /** When the last message came; undefined: none yet. */
  heardAt: number | undefined;
}

export interface Freshness {
  state: Connection | "silent";
  /** The data are too old to be shown as the present. */
  stale: boolean;
  heardAt: number | undefined;
}

/** The server sends something every few seconds (HEARTBEAT_MS). */
const SILENT_MS = 10_000;
/** The server ends streams now and then; the browser connects again within 3 s. */
const LOST_MS = 5000;

/** If there are several streams, that of the oldest data. */
export function freshnessOf(streams: readonly Heard[], now: number): Freshness {
  const each = streams.map(({ connection, heardAt }): Freshness => {
    const age = heardAt === undefined ? 0 : now - heardAt;
    const silent = connection === "live" && age > SILENT_MS;
    return {
      state: silent ? "silent" : connection,
      stale: age > (connection === "lost" ? LOST_MS : SILENT_MS),
      heardAt,
    };
  });
  const order = (one: Freshness): number =>
    one.stale ? 0 : one.state === "lost" ? 1 : one.state === "connecting" ? 2 : 3;
  const [worst = { state: "connecting", stale: false, heardAt: undefined }] = each.toSorted(
    (a, b) => order(a) - order(b),
  );
  return worst;
}
