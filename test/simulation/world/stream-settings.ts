// Which nodes have clients that exec, attach and forward ports.

import type { Random } from "../kernel/random.js";
import type { NodeShape } from "./node-shape.js";

/** Part of the nodes with a cluster: clients of the others need another kind of reviews. */
const SHARE = 0.3;

export function withSomeStreams(shape: NodeShape, random: Random): NodeShape {
  if (shape.hasOwnApi === true || !random.chance(SHARE)) return shape;
  return withStreams(shape, random.pick([20, 40, 90]));
}

/** @param idleSeconds streamingConnectionIdleTimeout */
export function withStreams(shape: NodeShape, idleSeconds: number): NodeShape {
  const fields = { ...shape.fields, streamingConnectionIdleTimeout: `${idleSeconds}s`, enableServer: true };
  return { ...shape, streams: idleSeconds, fields };
}
