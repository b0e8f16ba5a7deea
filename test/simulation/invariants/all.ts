// The invariants of every run. `converges` forgets removed pods: those after it see wanted ones only.

import { apiChangesSurvive } from "./api-changes-survive.js";
import { apiVersionsGrow } from "./api-versions-grow.js";
import { claimsArePrepared } from "./claims-are-prepared.js";
import { claimsEndWithTheirPods } from "./claims-end-with-their-pods.js";
import { configsAreProjected } from "./configs-are-projected.js";
import { converges } from "./converges.js";
import { cpusAreGivenOnce } from "./cpus-are-given-once.js";
import { csiVolumesInOrder } from "./csi-volumes-in-order.js";
import { devicesAreGivenOnce } from "./devices-are-given-once.js";
import { disksAreReclaimedFirst } from "./disks-are-reclaimed-first.js";
import { evictionsHaveReasons } from "./evictions-have-reasons.js";
import { exitStatusComesOnce } from "./exit-status-comes-once.js";
import { exitsAreCounted } from "./exits-are-counted.js";
import { failedStopsWait } from "./failed-stops-wait.js";
import { filesFollowObjects } from "./files-follow-objects.js";
import { followersKeepUp } from "./followers-keep-up.js";
import { fullDisksAreSurvived } from "./full-disks-are-survived.js";
import { graceIsKept } from "./grace-is-kept.js";
import { handEditsCount } from "./hand-edits-count.js";
import { handlesReturn } from "./handles-return.js";
import { healthIsShown } from "./health-is-shown.js";
import { healthyRunsOn } from "./healthy-runs-on.js";
import { hostPortsAreGivenOnce } from "./host-ports-are-given-once.js";
import { idleStreamsEnd } from "./idle-streams-end.js";
import { imagesComeByOwnAccounts } from "./images-come-by-own-accounts.js";
import { imagesInUseStay } from "./images-in-use-stay.js";
import type { Invariant } from "./invariant.js";
import { logLeftoversGo } from "./log-leftovers-go.js";
import { logLinesSurvive } from "./log-lines-survive.js";
import { logLinksLeadRight } from "./log-links-lead-right.js";
import { logsStaySmall } from "./logs-stay-small.js";
import { loneVolumes } from "./lone-volumes.js";
import { memoryIsGivenOnce } from "./memory-is-given-once.js";
import { noRoomIsTold } from "./no-room-is-told.js";
import { nodePortAgrees } from "./node-port-agrees.js";
import { nothingLeft } from "./nothing-left.js";
import { objectGoesLast } from "./object-goes-last.js";
import { oneRunningContainer } from "./one-running-container.js";
import { ownApiLasts } from "./own-api-lasts.js";
import { podsHaveTheirCgroups } from "./pods-have-their-cgroups.js";
import { preferencesAreKept } from "./preferences-are-kept.js";
import { pressuresLast } from "./pressures-last.js";
import { privateImagesStayPrivate } from "./private-images-stay-private.js";
import { processLives } from "./process-lives.js";
import { pullsKeepTheirLimits } from "./pulls-keep-their-limits.js";
import { readersAreBounded } from "./readers-are-bounded.js";
import { readersGetLines } from "./readers-get-lines.js";
import { readersHaveTheirRights } from "./readers-have-their-rights.js";
import { readersSeeChanges } from "./readers-see-changes.js";
import { recordsAreReadable } from "./records-are-readable.js";
import { resizesArrive } from "./resizes-arrive.js";
import { sharedContainersMakeRoom } from "./shared-containers-make-room.js";
import { shutdownEndsAreFinal } from "./shutdown-ends-are-final.js";
import { shutdownGroupsInOrder } from "./shutdown-groups-in-order.js";
import { shutdownsAreTold } from "./shutdowns-are-told.js";
import { shutdownsWait } from "./shutdowns-wait.js";
import { softThresholdsWait } from "./soft-thresholds-wait.js";
import { statusGoesForward } from "./status-goes-forward.js";
import { storageLimitsHold } from "./storage-limits-hold.js";
import { streamsAreWhole } from "./streams-are-whole.js";
import { streamsEnd } from "./streams-end.js";
import { streamsLeaveNothing } from "./streams-leave-nothing.js";
import { streamsNeedRights } from "./streams-need-rights.js";
import { terminatedStays } from "./terminated-stays.js";
import { unhealthyRestarts } from "./unhealthy-restarts.js";
import { userIdsAreGivenOnce } from "./user-ids-are-given-once.js";
import { volumesAreAttached } from "./volumes-are-attached.js";
import { volumesGrow } from "./volumes-grow.js";
import { watchesAreComplete } from "./watches-are-complete.js";

export const INVARIANTS: readonly Invariant[] = [
  apiChangesSurvive,
  apiVersionsGrow,
  filesFollowObjects,
  handEditsCount,
  watchesAreComplete,
  readersSeeChanges,
  readersAreBounded,
  readersHaveTheirRights,
  ownApiLasts,
  oneRunningContainer,
  cpusAreGivenOnce,
  sharedContainersMakeRoom,
  devicesAreGivenOnce,
  preferencesAreKept,
  userIdsAreGivenOnce,
  memoryIsGivenOnce,
  hostPortsAreGivenOnce,
  podsHaveTheirCgroups,
  csiVolumesInOrder,
  volumesAreAttached,
  loneVolumes,
  volumesGrow,
  configsAreProjected,
  privateImagesStayPrivate,
  imagesComeByOwnAccounts,
  claimsArePrepared,
  claimsEndWithTheirPods,
  healthIsShown,
  // Before the one that notes the eviction.
  storageLimitsHold,
  disksAreReclaimedFirst,
  softThresholdsWait,
  pressuresLast,
  evictionsHaveReasons,
  shutdownGroupsInOrder,
  shutdownEndsAreFinal,
  shutdownsWait,
  shutdownsAreTold,
  healthyRunsOn,
  unhealthyRestarts,
  terminatedStays,
  statusGoesForward,
  graceIsKept,
  failedStopsWait,
  imagesInUseStay,
  pullsKeepTheirLimits,
  objectGoesLast,
  recordsAreReadable,
  processLives,
  fullDisksAreSurvived,
  noRoomIsTold,
  exitsAreCounted,
  converges,
  resizesArrive,
  nothingLeft,
  logsStaySmall,
  logLinesSurvive,
  logLeftoversGo,
  logLinksLeadRight,
  readersGetLines,
  followersKeepUp,
  nodePortAgrees,
  streamsNeedRights,
  streamsAreWhole,
  exitStatusComesOnce,
  streamsEnd,
  idleStreamsEnd,
  streamsLeaveNothing,
  handlesReturn,
];
