// A static pod of 3 init containers, 2 sidecars and 2 app containers: manifest put in place → both apps run. The same
// bare CRI calls are measured by turns in the same run.
// @headline Speed | A pod of 7 containers starts soon. | ≤ 1.2 × bare

import type { Pod } from "../../src/shared/kubernetes/api/pod.js";
import { shapedMarks, shapedPod } from "../lib/manifests.js";
import type { NodeUnderTest } from "../lib/node-under-test.js";
import type { Section } from "../lib/section.js";
import { summarize, type Summary } from "../lib/stats.js";

interface ShapeRow {
  rounds: number;
  /** Milliseconds. */
  pod: Summary;
  floor: Summary;
  /** p50 over p50. */
  ratio: number;
}

/** Marks are never reused: every round has names of its own. */
let serial = 0;

export const shapeSection: Section<ShapeRow> = {
  name: "shape",
  sharesNode: true,
  run: async (nodes) => {
    const node = await nodes.shared();
    await benchShape(node, 2); // warm-up, not counted
    return await benchShape(node, 10);
  },
  report: ({ rounds, pod, floor, ratio }) => [
    {
      title: "A pod of 3 init containers, 2 sidecars and 2 apps: manifest → both apps run, beside the bare calls (ms)",
      head: ["rounds", "p50", "p90", "floor p50", "floor p90", "× floor"],
      rows: [[rounds, pod.p50, pod.p90, floor.p50, floor.p90, ratio]],
    },
  ],
};

async function benchShape(node: NodeUnderTest, rounds: number): Promise<ShapeRow> {
  const pods: number[] = [];
  const floors: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const name = `shape-${++serial}`;
    const startedAt = await node.manifests.put(name, shapedPod(name, node.marks.directory));
    const marks = await Promise.all(shapedMarks(name).map((mark) => node.marks.at(mark)));
    pods.push(Math.max(...marks) - startedAt);
    await node.until(1, (pod) => pod.status?.phase === "Running");
    await node.manifests.remove(name);
    await node.until(0);

    const bare = shapedPod(`f${name}`, node.marks.directory) as Pod;
    floors.push(...(await node.floor.startPods([bare], ({ metadata }) => shapedMarks(metadata.name))));
    await node.floor.clear();
  }
  const [pod, floor] = [summarize(pods), summarize(floors)];
  return { rounds, pod, floor, ratio: Math.round((pod.p50 / floor.p50) * 100) / 100 };
}
