// As much of a control plane as pods need to reach a node: a scheduler.
import { watchAndSchedule } from "./scheduler.js";
import type { World } from "../world.js";

export function startControllers(world: World): () => void {
  return watchAndSchedule(world);
}
