// Clients that exec, attach and forward ports, some while faults occur, the others while the node is calm.

import type { Random } from "../kernel/random.js";
import type { StreamAction, StreamKind, StreamScript, StreamUse } from "../world/stream-session.js";
import type { Action } from "./events.js";

const IN_BUSY = 25;
const IN_CALM = 25;
/** Faults of a round. */
const FAULTS = 5;
/** Pods run again so long after the faults. */
const RECOVERED_MS = 150_000;
/** Before the checks of the round, so that sessions have ended. */
const REST_MS = 150_000;
const THREAD = "secure-server";
const KINDS: readonly StreamKind[] = ["exec", "exec", "exec", "attach", "portForward"];
const CLIENTS = [...Array.from({ length: 12 }, () => "reader" as const), "nosy", "nosy", "unknown", "none"] as const;

const SILENT = { sends: 0, length: 1, everyMs: 0, closesStdin: false, paceMs: 0 };
const QUIET = { echoes: false, lines: 0, length: 0, everyMs: 0, endsMs: 0, exitCode: 0 };

export class OwnStreams {
  constructor(private readonly random: Random) {}

  /** Events of one round, which is busy until `calm` and checked at `end`. */
  events(begin: number, calm: number, end: number): (readonly [atMs: number, action: Action])[] {
    const { random } = this;
    const some = (count: number, from: number, to: number) =>
      Array.from({ length: count }, () => [Math.round(random.between(from, to)), this.client()] as const);
    return [...some(IN_BUSY, begin, calm), ...some(IN_CALM, calm + RECOVERED_MS, end - REST_MS)];
  }

  faults(begin: number, calm: number): (readonly [atMs: number, action: Action])[] {
    const { random } = this;
    return Array.from({ length: FAULTS }, () => [Math.round(random.between(begin, calm)), this.fault()] as const);
  }

  private client(): StreamAction {
    const { random } = this;
    const kind = random.pick(KINDS);
    const [script, use] = this.session(kind);
    return {
      do: "stream-opened",
      kind,
      pick: random.below(1_000_000),
      as: random.pick(CLIENTS),
      script: this.withManners(kind, script),
      use: this.withUse(kind, use),
    };
  }

  /** What its two ends do when all goes well. */
  private session(kind: StreamKind): [StreamScript, StreamUse] {
    const { random } = this;
    const exitCode = random.pick([0, 0, 1, 7]);
    const length = 1 + random.below(3000);
    const everyMs = random.pick([0, 5, 100, 1500]);
    const input = { ...SILENT, sends: 1 + random.below(60_000), length: 500 + random.below(4500), closesStdin: true };
    const pace = { everyMs: random.pick([0, 3, 50, 700]) };
    if (kind === "portForward") {
      const endsMs = random.chance(0.3) ? random.below(60_000) : Infinity;
      const lines = random.below(60);
      // A server that speaks first.
      if (random.chance(0.4))
        return [
          { ...QUIET, lines, length, everyMs, endsMs },
          { ...SILENT, leavesMs: 1000 + random.below(90_000) },
        ];
      return [
        { ...QUIET, echoes: true, endsMs },
        { ...input, ...pace, leavesMs: 1000 + random.below(90_000) },
      ];
    }
    if (kind === "attach") {
      const lines = 1 + random.below(60);
      const script = { ...QUIET, echoes: random.chance(0.5), lines, length, everyMs, endsMs: Infinity };
      const use = script.echoes ? { ...input, ...pace, closesStdin: random.chance(0.5) } : SILENT;
      return [script, random.chance(0.7) ? { ...use, leavesMs: 1000 + random.below(60_000) } : use];
    }
    switch (random.below(5)) {
      case 0:
        return [{ ...QUIET, lines: 1 + random.below(60), length, everyMs, exitCode }, SILENT];
      case 1:
        return [
          { ...QUIET, echoes: true, exitCode },
          { ...input, ...pace },
        ];
      case 2:
        // Its command may end while the client still sends.
        return [
          { ...QUIET, lines: 1 + random.below(60), length, everyMs, exitCode },
          { ...input, ...pace },
        ];
      case 3:
        return [
          { ...QUIET, echoes: true, lines: 20, length, everyMs, exitCode },
          { ...input, ...pace },
        ];
      default:
        return [{ ...QUIET, lines: random.below(3), length, endsMs: random.below(120_000), exitCode }, SILENT];
    }
  }

  /** Some commands hang, and some streaming servers do not keep to the rules. */
  private withManners(kind: StreamKind, script: StreamScript): StreamScript {
    const { random } = this;
    if (random.chance(0.03)) return { ...script, isSilent: true };
    if (random.chance(0.07)) return { ...script, breaksMs: random.below(20_000) };
    if (kind === "exec" && random.chance(0.1)) return { ...script, endsMs: Infinity };
    return random.chance(0.3) ? { ...script, leavesOpen: true } : script;
  }

  private withUse(kind: StreamKind, plain: StreamUse): StreamUse {
    const { random } = this;
    const use = random.chance(0.2) ? { ...plain, paceMs: 1 + random.below(random.pick([20, 1500])) } : plain;
    if (random.chance(0.15)) return { ...use, lingers: true };
    if (kind !== "exec" || !random.chance(0.25)) return random.chance(0.5) ? { ...use, drops: true } : use;
    const leaving = { ...use, leavesMs: random.below(15_000) };
    return random.chance(0.5) ? { ...leaving, drops: true } : leaving;
  }

  private fault(): Action {
    const { random } = this;
    const ms = 1000 + random.below(30_000);
    const verb = random.pick(["Exec", "Attach", "PortForward"]);
    switch (random.below(6)) {
      case 0:
        return { do: "thread-crash", name: THREAD };
      case 1:
        return { do: "thread-stalls", name: THREAD, ms };
      case 2:
        return { do: "aim", verb, fault: { do: "kill", downMs: random.pick([0, 1000]) } };
      case 3:
        return { do: "aim", verb, fault: { do: "runtime-restart", ms: ms / 4 } };
      case 4:
        return { do: "aim", verb, fault: { do: "container-dies", pick: random.below(1_000_000) } };
      default:
        return { do: "runtime-error", verb, spec: this.failure(), when: random.pick(["before", "after"] as const) };
    }
  }

  private failure(): string {
    const { random } = this;
    return random.pick(["2*error(UNAVAILABLE: lost)", "2*error(UNKNOWN: failed)", `2*delay(${random.below(20_000)})`]);
  }
}
