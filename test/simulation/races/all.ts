// All races.

import { answerOfCreateIsLost } from "./answer-of-create-is-lost.js";
import { detachedWhileUnstaged } from "./attachments.js";
import { refusedWhileInUse, volumeForOnePod } from "./claimed-volumes.js";
import { endsWithoutDriver, killedWhilePrepared, slicesOfADriver, unreadClaims } from "./claims.js";
import { completedPodAndRestart } from "./completed-pod-and-restart.js";
import { configChangesWhileDown, objectsOutliveTheirPod } from "./config-changes.js";
import { cpusWithoutRecords } from "./cpus-without-records.js";
import { deletedByForce } from "./deleted-by-force.js";
import { deletedDuringPull } from "./deleted-during-pull.js";
import { deletedWhileDown } from "./deleted-while-down.js";
import { devicesOverRestarts } from "./devices-over-restarts.js";
import { killedWhileEvicting, shortageOfMemory, shortageOfPids, softThreshold } from "./evictions.js";
import { createdAndNotStarted, deadlineAfterABoot, startThatHangs, stopThatFails } from "./found-here.js";
import { evictedOnAFullDisk, restartedOnAFullDisk, startedOnAFullDisk } from "./full-disks.js";
import { excessBeforeUse, growsAboveItsLimit, podsFillTheDisk, priorityBeforeUse } from "./growing-writers.js";
import { grpcServerGetsSick } from "./grpc-server-gets-sick.js";
import { HALF_PULLED_RACES } from "./half-pulled-images.js";
import { hookThatHangs } from "./hook-that-hangs.js";
import { hostPortWhileTerminating } from "./host-port-while-terminating.js";
import { LOG_RACES } from "./logs.js";
import { manifestChangesWhileAway } from "./manifest-changes-while-away.js";
import { mirrorPodDeleted } from "./mirror-pod-deleted.js";
import { OWN_API_READER_RACES } from "./own-api-readers.js";
import { ownApiShutsDown, powerLossInOwnShutdown } from "./own-api-shutdowns.js";
import { OWN_API_RACES } from "./own-api.js";
import { phaseAtTheEnd } from "./phase-at-the-end.js";
import { killedWhilePulling, powerLossAfterPull } from "./private-images.js";
import type { Race } from "./race.js";
import { readyOverARestart, unreadyOverARestart } from "./ready-over-a-restart.js";
import { containerWithoutRoom, imageWithoutRoom, sandboxWithoutRoom } from "./runtime-without-room.js";
import { completedSandbox, terminatingSandbox } from "./sandbox-made-again.js";
import {
  endedBeforeTheClock,
  imagesBeforePods,
  imagesFromBefore,
  minimumReclaim,
  shortageOfInodes,
} from "./short-disks.js";
import {
  cancelledAfterTheEnd,
  cancelledWhileEnding,
  endsBeforeTheMachine,
  killedWhileShuttingDown,
  lockRefusedAfterLoss,
} from "./shutdowns.js";
import { staticPodAddedAgain } from "./static-pod-added-again.js";
import { aboveTheirLimits } from "./storage-limits.js";
import { STREAM_RACES } from "./streams.js";

export const RACES: readonly Race[] = [
  staticPodAddedAgain,
  deletedDuringPull,
  completedPodAndRestart,
  readyOverARestart,
  unreadyOverARestart,
  mirrorPodDeleted,
  phaseAtTheEnd,
  hookThatHangs,
  deletedWhileDown,
  deletedByForce,
  manifestChangesWhileAway,
  answerOfCreateIsLost,
  completedSandbox,
  terminatingSandbox,
  startThatHangs,
  stopThatFails,
  createdAndNotStarted,
  deadlineAfterABoot,
  cpusWithoutRecords,
  devicesOverRestarts,
  grpcServerGetsSick,
  hostPortWhileTerminating,
  detachedWhileUnstaged,
  refusedWhileInUse,
  volumeForOnePod,
  ...HALF_PULLED_RACES,
  killedWhilePulling,
  powerLossAfterPull,
  killedWhilePrepared,
  endsWithoutDriver,
  slicesOfADriver,
  unreadClaims,
  shortageOfMemory,
  killedWhileEvicting,
  softThreshold,
  shortageOfPids,
  imagesBeforePods,
  imagesFromBefore,
  minimumReclaim,
  shortageOfInodes,
  endedBeforeTheClock,
  evictedOnAFullDisk,
  restartedOnAFullDisk,
  startedOnAFullDisk,
  aboveTheirLimits,
  configChangesWhileDown,
  objectsOutliveTheirPod,
  killedWhileShuttingDown,
  cancelledWhileEnding,
  cancelledAfterTheEnd,
  lockRefusedAfterLoss,
  endsBeforeTheMachine,
  podsFillTheDisk,
  priorityBeforeUse,
  excessBeforeUse,
  growsAboveItsLimit,
  containerWithoutRoom,
  sandboxWithoutRoom,
  imageWithoutRoom,
  ...OWN_API_RACES,
  ...OWN_API_READER_RACES,
  ownApiShutsDown,
  powerLossInOwnShutdown,
  ...LOG_RACES,
  ...STREAM_RACES,
];
