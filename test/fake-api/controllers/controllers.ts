// As much of a control plane as pods need to reach a node: taints that follow the node's conditions, and a scheduler.
import { followConditions } from "./node-taints.js";
import { watchAndSchedule } from "./scheduler.js";
import type { World } from "../world.js";

export function startControllers(world: World): () => void {
  const stops = [followConditions(world), watchAndSchedule(world)];
  return () => {
    for (const stop of stops) stop();
  };
}
