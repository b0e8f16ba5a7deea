// GET /containerLogs/<namespace>/<pod>/<container>: the output of `kubectl logs`, read from the files.
// Invariant: a follower costs flat memory, and none after its client has disconnected. Followers are bounded, and one
// pod has at most half of their places.

import type { ServerResponse } from "node:http";
import { join } from "node:path";
import type { Clock } from "../../../../shared/base/clock/clock.js";
import { NotRegularFileError } from "../../../../shared/io/fs/untrusted-file.js";
import { FolderTooBigError, NotFolderError } from "../../../../shared/io/fs/untrusted-folder.js";
import { queryOf } from "../../../../shared/io/http/target.js";
import type { ApiContainerStatus } from "../../../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../../shared/kubernetes/api/pod.js";
import { bareContainerId, LogOnHangableMountError } from "../../../../shared/node/container-logs/own-log-link.js";
import type { Logger } from "../../../../shared/telemetry/log/logger.js";
import type { Route } from "../../http/answer.js";
import { replyBare, replyError, replyPlain, writeChunks } from "../../http/reply.js";
import type { PodList } from "../../pods/pod-list.js";
import { containerSpec, containerStatus } from "../../pods/pod-lookup.js";
import type { PodShares } from "../../pods/pod-shares.js";
import { isForeignLog, LogMissingError, LogOptionsError } from "./errors.js";
import { logQuery, LogQueryError } from "./log-query.js";
import { checkLogOptions, type PodLogOptions } from "./options.js";
import { readContainerLogs, type ReadLogsOptions } from "./read.js";
import type { ReaderTurns } from "./reader-turns.js";
import { NoLogError, runOf, unavailable } from "./run-of-container.js";

export interface ContainerLogsDeps {
  pods: PodList;
  podLogsDir: string;
  /** Gate PodLogsQuerySplitStreams. */
  splitStreams: boolean;
  followers: PodShares;
  /** Followers with their own inotify instance; the others poll once a second. */
  watches: PodShares;
  /** Shared by all readers of logs. */
  turns: Pick<ReaderTurns, "turn">;
  clock: Clock;
  log: Logger;
}

/** Seconds: as for exec streams beyond their limit. */
const RETRY_AFTER = "60";
const STREAMS = ["All", "Stdout", "Stderr"] as const;

export function containerLogsRoute(deps: ContainerLogsDeps): Route {
  return {
    path: "/containerLogs/:namespace/:pod/:container",
    service: "/containerLogs",
    methods: ["GET"],
    answer: async (_request, response, { target, params }) => {
      const { namespace = "", pod: name = "", container = "" } = params;
      const options = readOptions(queryOf(target), deps, response);
      if (options === undefined) return;
      await deps.pods.current();
      const pod = deps.pods.find(namespace, name);
      if (pod === undefined) {
        replyPlain(response, 404, `pod ${JSON.stringify(name)} does not exist`);
        return;
      }
      if (pod.spec.containers.length === 0) {
        // A pod that ended before it had containers, such as a rejected one: its definition is not kept.
        replyBare(response, 400, unavailable(name, container));
        return;
      }
      if (containerSpec(pod, container) === undefined) {
        replyPlain(response, 404, `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(name)}`);
        return;
      }
      if (options.follow === true) await replyFollower(deps, pod, container, options, response);
      else await replyLog(deps, pod, container, options, response);
    },
  };
}

/** undefined: the client has got the error. */
function readOptions(
  query: URLSearchParams,
  { clock, splitStreams }: ContainerLogsDeps,
  response: ServerResponse,
): PodLogOptions | undefined {
  try {
    const { stream: asked, ...rest } = logQuery(query);
    const stream = STREAMS.find((name) => name === (asked ?? "All"));
    if (stream === undefined) {
      replyPlain(response, 422, '{"message": "Invalid request."}');
      return undefined;
    }
    checkLogOptions({ ...rest, stream }, clock.nowNanos());
    if (stream !== "All" && !splitStreams) {
      replyPlain(
        response,
        400,
        `unable to return the given log stream: ${JSON.stringify(stream)}. Please enable PodLogsQuerySplitStreams feature gate in kubelet`,
      );
      return undefined;
    }
    return { ...rest, stream };
  } catch (error) {
    if (error instanceof LogQueryError) replyPlain(response, 400, '{"message": "Unable to decode query."}');
    else if (error instanceof LogOptionsError) replyPlain(response, 422, '{"message": "Invalid request."}');
    else throw error;
    return undefined;
  }
}

/** A follower holds a file, a watch and a connection for any time, so their number is limited. */
async function replyFollower(
  deps: ContainerLogsDeps,
  pod: Pod,
  container: string,
  options: PodLogOptions,
  response: ServerResponse,
): Promise<void> {
  const { uid } = pod.metadata;
  const where = deps.followers.full(uid);
  if (where !== undefined) {
    replyError(response, 429, `too many clients follow logs ${where}`, { "Retry-After": RETRY_AFTER });
    return;
  }
  const inotify = deps.watches.full(uid) === undefined;
  const leave = [deps.followers.take(uid), ...(inotify ? [deps.watches.take(uid)] : [])];
  try {
    await replyLog(deps, pod, container, { ...options, inotify }, response);
  } finally {
    for (const place of leave) place();
  }
}

async function replyLog(
  { pods, podLogsDir, turns, clock, log }: ContainerLogsDeps,
  pod: Pod,
  container: string,
  { previous = false, ...options }: PodLogOptions & Pick<ReadLogsOptions, "inotify">,
  response: ServerResponse,
): Promise<void> {
  const { uid, name, namespace } = pod.metadata;
  const podLogDirectory = join(podLogsDir, `${namespace}_${name}_${uid}`);
  const gone = new AbortController();
  response.once("close", () => gone.abort(new Error("the client disconnected")));
  try {
    const status = containerStatus(pod, container);
    const restartCount = runOf(name, container, status, previous);
    const isRunning = (): boolean => {
      // A pod may go before a status without the running container has come.
      const current = pods.get(uid);
      const now = current === undefined ? undefined : containerStatus(current, container);
      return now?.state.running !== undefined && now.restartCount === restartCount;
    };
    const containerIds = idsOf(status);
    const loop = { turn: () => turns.turn(uid) };
    const read = { ...options, podLogDirectory, container, restartCount, containerIds, loop, clock, isRunning };
    const onProblem = (file: string, error: Error): void =>
      log.warn({ err: error, file }, "a rotated log is damaged; serving its readable part");
    // No content type, as upstream. A follower may wait long for the first line: its headers don't. A log that can't be
    // opened has another status.
    const onOpen = (): void => {
      response.writeHead(200);
      response.flushHeaders();
    };
    await writeChunks(response, readContainerLogs({ ...read, signal: gone.signal, onProblem, onOpen }));
  } catch (error) {
    if (gone.signal.aborted) return;
    // As upstream, which has sent its headers before it reads: the text ends the body.
    if (isForeignLog(error) && response.headersSent) {
      response.end(error.message);
      return;
    }
    if (response.headersSent) throw error;
    if (isPlanted(error)) replyPlain(response, 500, error.message);
    else if (error instanceof NoLogError || error instanceof LogMissingError) replyBare(response, 400, error.message);
    else throw error;
  }
}

/** Something in the log's place that is not opened. */
function isPlanted(error: unknown): error is Error {
  return [NotRegularFileError, NotFolderError, FolderTooBigError, LogOnHangableMountError].some(
    (type) => error instanceof type,
  );
}

/** Ids of the runs that the status shows. */
function idsOf(status: ApiContainerStatus | undefined): string[] {
  const { containerID, state, lastState } = status ?? {};
  const ids = [containerID, state?.terminated?.containerID, lastState?.terminated?.containerID];
  return ids.flatMap((id) => (id === undefined || id === "" ? [] : [bareContainerId(id)]));
}
