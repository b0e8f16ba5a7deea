// V8's CPU profiles as one tree of stacks: the functions of a thread, with the time that the samples stand for.
// Invariant: pure. Time in which the thread slept is left out.

export interface CpuProfile {
  nodes: { id: number; callFrame: CallFrame; children?: number[] }[];
  /** Ids of nodes, one per sample, and the time since the sample before, µs. */
  samples?: number[];
  timeDeltas?: number[];
}

/** As V8 gives it: line and column are counted from 0. */
export interface CallFrame {
  functionName: string;
  url: string;
  lineNumber: number;
  columnNumber: number;
}

/** A function as the picture shows it: its name and the folder of the code that it belongs to. */
export interface Label {
  name: string;
  folder: string;
}

/** Milliseconds. Frames of one label below one parent are one. */
export interface Frame extends Label {
  selfMs: number;
  totalMs: number;
  children: Frame[];
}

const IDLE = "(idle)";

/**
 * The root stands for the thread. `labelOf` may give undefined: the frame is left out, its children stand in its place.
 */
export function stacksOf(profile: CpuProfile, labelOf: (frame: CallFrame) => Label | undefined): Frame {
  const spent = new Map<number, number>();
  for (const [i, id] of (profile.samples ?? []).entries()) {
    spent.set(id, (spent.get(id) ?? 0) + Math.max(0, profile.timeDeltas?.[i] ?? 0) / 1000);
  }
  const byId = new Map(profile.nodes.map((node) => [node.id, node]));
  const top: Frame = { name: "all", folder: "", selfMs: 0, totalMs: 0, children: [] };
  const pending: [id: number, parent: Frame][] = [];
  const [first] = profile.nodes;
  for (const id of first?.children ?? []) pending.push([id, top]);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [id, parent] = next;
    const node = byId.get(id);
    if (node === undefined || node.callFrame.functionName === IDLE) continue;
    const label = labelOf(node.callFrame);
    const frame = label === undefined ? parent : childOf(parent, label);
    frame.selfMs += spent.get(id) ?? 0;
    for (const child of node.children ?? []) pending.push([child, frame]);
  }
  sum(top);
  return top;
}

/** Functions by their own time, the most expensive first. */
export function ownTimes(top: Frame): (Label & { selfMs: number })[] {
  const sums = new Map<string, Label & { selfMs: number }>();
  const visit = ({ name, folder, selfMs, children }: Frame): void => {
    const key = `${folder} ${name}`;
    const known = sums.get(key);
    if (known === undefined) sums.set(key, { name, folder, selfMs });
    else known.selfMs += selfMs;
    children.forEach(visit);
  };
  visit(top);
  return [...sums.values()].toSorted((a, b) => b.selfMs - a.selfMs);
}

function childOf(parent: Frame, { name, folder }: Label): Frame {
  const known = parent.children.find((child) => child.name === name && child.folder === folder);
  if (known !== undefined) return known;
  const child: Frame = { name, folder, selfMs: 0, totalMs: 0, children: [] };
  parent.children.push(child);
  return child;
}

function sum(frame: Frame): number {
  frame.totalMs = frame.selfMs;
  for (const child of frame.children) frame.totalMs += sum(child);
  frame.children.sort((a, b) => b.totalMs - a.totalMs);
  return frame.totalMs;
}
