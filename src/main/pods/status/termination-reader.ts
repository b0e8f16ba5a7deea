// Reads the termination messages of exited containers: their termination message file, else the end of their log.
// Read once per container, kept while the runtime has the container; files are read by main asynchronously, never more
// than their tail.

import { join } from "node:path";
import { mapAtMost } from "../../../shared/base/turns/map-at-most.js";
import { readTail } from "../../../shared/io/fs/untrusted-file.js";
import { containersDirectory } from "../../../shared/kubernetes/api/pod-paths.js";
import type { Pod, TerminationMessagePolicy } from "../../../shared/kubernetes/api/pod.js";
import { ContainerState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { forgetAllBut, type ObservedPod, type ObservedContainer } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid, ContainerId } from "../../../shared/kubernetes/identifiers.js";
import type { VolumeCalls } from "../../../shared/node/volume-calls/volume-calls.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { annotationKeys } from "../../model/labels.js";
import { podLogDirectory } from "../../model/paths.js";
import { messageMountPath } from "../../model/rooted-path.js";
import { outputTail } from "./output-tail.js";
import { fallsBackToLog, fileMessage, fileMessageLimit, logMessage } from "./termination-message.js";

/** Reads of one pod at once: each holds main for the time of a system call's start. */
const READS_AT_ONCE = 32;

export class TerminationReader {
  private readonly messages = new Map<PodUid, Map<ContainerId, string>>();
  private readonly reading = new Set<ContainerId>();
  /** The messages that the newest caller waits for, by pod. */
  private readonly awaited = new Map<PodUid, Set<ContainerId>>();

  constructor(
    private readonly places: { rootDir: string; podLogsDir: string },
    /** Message files of subPaths may lie on a file system that does not respond. */
    private readonly calls: Pick<VolumeCalls, "call">,
    private readonly log: Logger,
    /** All termination messages that the pod's last status waited for are known; one may be empty. */
    private readonly onRead: (uid: PodUid) => void,
  ) {}

  /**
   * Termination messages; undefined while one of them is still being read, which this starts. Forgets the containers
   * that the runtime no longer has.
   */
  messagesOf(pod: Pod, observed: ObservedPod): ReadonlyMap<ContainerId, string> | undefined {
    const { uid } = pod.metadata;
    const known = this.messages.get(uid) ?? new Map<ContainerId, string>();
    this.messages.set(uid, known);
    forgetAllBut(known, observed);
    const missing = observed.containers.filter(
      ({ state, id }) => state === ContainerState.CONTAINER_EXITED && !known.has(id),
    );
    if (missing.length === 0) {
      this.awaited.delete(uid);
      return known;
    }
    this.awaited.set(uid, new Set(missing.map(({ id }) => id)));
    const unread = missing.filter(({ id }) => !this.reading.has(id));
    for (const { id } of unread) this.reading.add(id);
    void mapAtMost(READS_AT_ONCE, unread, async (status) => {
      const message = await this.read(pod, status);
      this.reading.delete(status.id);
      known.set(status.id, message);
      this.onKnown(uid, status.id);
    });
    return undefined;
  }

  /** With thousands of containers, a status for each of their messages would be quadratic work. */
  private onKnown(uid: PodUid, id: ContainerId): void {
    const awaited = this.awaited.get(uid);
    if (awaited?.delete(id) !== true || awaited.size > 0) return;
    this.awaited.delete(uid);
    this.onRead(uid);
  }

  forget(uid: PodUid): void {
    this.messages.delete(uid);
    this.awaited.delete(uid);
  }

  private async read(pod: Pod, status: ObservedContainer): Promise<string> {
    try {
      const message = await this.readFile(pod, status);
      const policy = status.annotations[annotationKeys.terminationMessagePolicy] as
        | TerminationMessagePolicy
        | undefined;
      if (!fallsBackToLog(policy, message, status)) return message;
      const path = status.logPath.startsWith("/")
        ? status.logPath
        : join(podLogDirectory(this.places.podLogsDir, pod), status.logPath);
      return logMessage(await outputTail(path, status.id));
    } catch (error) {
      this.log.debug({ err: error, container: status.id }, "cannot read a termination message");
      return "";
    }
  }

  private async readFile(pod: Pod, status: ObservedContainer): Promise<string> {
    const path = status.annotations[annotationKeys.terminationMessagePath];
    if (path === undefined) return "";
    // Earlier releases mounted it as written.
    const paths = [messageMountPath(path), path];
    const mount = status.mounts.find(({ containerPath }) => paths.includes(containerPath));
    if (mount === undefined) return "";
    // One byte more than the limit: it shows whether the limit is within a character.
    const maxBytes = fileMessageLimit + 1;
    const { hostPath } = mount;
    const isOwn = hostPath.startsWith(`${containersDirectory(this.places.rootDir, pod.metadata.uid)}/`);
    // The kubelet's own file is on the node's disk: most containers have no other.
    const { bytes } = isOwn
      ? await readTail(hostPath, maxBytes)
      : await this.calls.call("readTail", { path: hostPath, maxBytes }, { paths: [hostPath] });
    return fileMessage(Buffer.from(bytes));
  }
}
