// All races.

import { completedPodAndRestart } from "./completed-pod-and-restart.js";
import { deletedDuringPull } from "./deleted-during-pull.js";
import { startThatHangs, stopThatFails } from "./found-here.js";
import { mirrorPodDeleted } from "./mirror-pod-deleted.js";
import { phaseAtTheEnd } from "./phase-at-the-end.js";
import type { Race } from "./race.js";
import { readyOverARestart, unreadyOverARestart } from "./ready-over-a-restart.js";
import { staticPodAddedAgain } from "./static-pod-added-again.js";

export const RACES: readonly Race[] = [
  staticPodAddedAgain,
  deletedDuringPull,
  completedPodAndRestart,
  readyOverARestart,
  unreadyOverARestart,
  mirrorPodDeleted,
  phaseAtTheEnd,
  startThatHangs,
  stopThatFails,
];
