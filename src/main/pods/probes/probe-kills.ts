// Failures of liveness and startup probes, and the stops that followed from them, by pod and container: `nodelet why`
// names the probe, its answers and counts while the container runs again. A stop is what the planner derives from the
// verdict Failure (planner/kill-reason.ts).
// Invariant: at most one record per container and kind of probe, with at most MAX_ANSWERS answers of MAX_TEXT
// characters.

import type { ProbeAnswer, ProbeFailingFacts, ProbeKillFacts } from "../../../shared/contracts/nodelet.js";
import type { ProbeRecord } from "../../../shared/contracts/prober.js";
import { CRASH_RESET_MS } from "../../../shared/kubernetes/api/crash-reset.js";
import { type PodUid, podUid } from "../../../shared/kubernetes/identifiers.js";

const MAX_ANSWERS = 3;
const MAX_TEXT = 512;

interface OfPod {
  /** By container and kind. */
  failing: Map<string, ProbeFailingFacts>;
  /** By container. */
  kills: Map<string, ProbeKillFacts>;
}

export type KillsOnDisk = Record<string, ProbeKillFacts[]>;

export class ProbeKills {
  private readonly pods = new Map<PodUid, OfPod>();

  /** @returns whether the container is stopped for it */
  onRecord(record: ProbeRecord, container: string): boolean {
    const { uid, kind: probe, containerId, outcome, output, verdict, inARow, at: lastAt } = record;
    if (probe === "readiness") return false;
    const pod = this.pods.get(uid) ?? { failing: new Map<string, never>(), kills: new Map<string, never>() };
    const key = `${container} ${probe}`;
    if (outcome !== "failure" && outcome !== "error") {
      pod.failing.delete(key);
      return false;
    }
    this.pods.set(uid, pod);
    const known = pod.failing.get(key);
    const isNext = known?.containerId === containerId && (inARow > 1 || outcome === "error");
    const answers = withAnswer(isNext ? known.answers : [], output);
    const failing = { container, probe, containerId, lastAt, inARow, answers };
    if (verdict !== "Failure") {
      pod.failing.set(key, failing);
      return false;
    }
    pod.failing.delete(key);
    const before = pod.kills.get(container);
    const goesOn = before !== undefined && lastAt - before.lastAt < CRASH_RESET_MS;
    pod.kills.set(container, { ...failing, kills: goesOn ? before.kills + 1 : 1 });
    return true;
  }

  of(uid: PodUid): { probeKills: ProbeKillFacts[]; probesFailing: ProbeFailingFacts[] } {
    const { kills, failing } = this.pods.get(uid) ?? {};
    return { probeKills: [...(kills?.values() ?? [])], probesFailing: [...(failing?.values() ?? [])] };
  }

  /** Returns whether there was a stop to forget. */
  forget(uid: PodUid): boolean {
    const had = (this.pods.get(uid)?.kills.size ?? 0) > 0;
    this.pods.delete(uid);
    return had;
  }

  uids(): PodUid[] {
    return [...this.pods.keys()];
  }

  toDisk(): KillsOnDisk {
    const kept = [...this.pods].filter(([, { kills }]) => kills.size > 0);
    return Object.fromEntries(kept.map(([uid, { kills }]) => [uid, [...kills.values()]]));
  }

  fromDisk(pods: KillsOnDisk): void {
    for (const [uid, kills] of Object.entries(pods)) {
      this.pods.set(podUid(uid), { failing: new Map(), kills: new Map(kills.map((kill) => [kill.container, kill])) });
    }
  }
}

/** Equal answers one after the other are counted; the oldest are dropped. */
function withAnswer(answers: readonly ProbeAnswer[], output: string): ProbeAnswer[] {
  const text = output.trim().slice(0, MAX_TEXT);
  const last = answers.at(-1);
  if (last?.text === text) return [...answers.slice(0, -1), { text, count: last.count + 1 }];
  return [...answers, { text, count: 1 }].slice(-MAX_ANSWERS);
}

/** @throws Error for anything else than toDisk() writes */
export function decodeKills(value: unknown): KillsOnDisk {
  const pods: KillsOnDisk = {};
  for (const [uid, kills] of Object.entries(value as Record<string, unknown>)) {
    if (!Array.isArray(kills) || !kills.every(isKill)) throw new Error(`${uid} has stops by probes that are none`);
    pods[uid] = kills;
  }
  return pods;
}

function isKill(value: unknown): value is ProbeKillFacts {
  if (typeof value !== "object" || value === null) return false;
  const { container, probe, containerId, kills, lastAt, inARow, answers } = value as Partial<ProbeKillFacts>;
  return (
    typeof container === "string" &&
    (probe === "liveness" || probe === "startup") &&
    typeof containerId === "string" &&
    [kills, lastAt, inARow].every(Number.isFinite) &&
    Array.isArray(answers) &&
    answers.every(isAnswer)
  );
}

function isAnswer(value: unknown): value is ProbeAnswer {
  if (typeof value !== "object" || value === null) return false;
  const { text, count } = value as Partial<ProbeAnswer>;
  return typeof text === "string" && typeof count === "number";
}
