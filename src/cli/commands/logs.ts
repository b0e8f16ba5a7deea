// nodelet logs: the log of a container, as kubectl logs has it, without an API server.

import { pipeline } from "node:stream/promises";
import { isGoTime } from "../../shared/base/text/go-time.js";
import type { Context } from "../context.js";
import { CliError, EXIT, type ExitCode } from "../errors.js";
import { goDurationMs, wholeNumber } from "../output/go-duration.js";
import { remark } from "../output/terminal.js";
import { findPod, podsOf } from "../pods/find.js";
import { podPath, takenContainer } from "../pods/pod-paths.js";

export interface LogOptions {
  namespace?: string;
  container?: string;
  follow?: boolean;
  previous?: boolean;
  timestamps?: boolean;
  tail?: string;
  since?: string;
  sinceTime?: string;
}

export async function logsCommand({ client }: Context, named: string, options: LogOptions): Promise<ExitCode> {
  const query = logQuery(options);
  const pod = findPod(await podsOf(client), named, options.namespace);
  const container = takenContainer(pod, options.container, remark);
  const path = `/containerLogs/${podPath(pod)}/${encodeURIComponent(container)}`;
  const response = await client.open(`${path}?${query.toString()}`);
  await pipeline(response, process.stdout, { end: false });
  return EXIT.fine;
}

/** The query of the kubelet's route. @throws CliError for a value that it would refuse @internal */
export function logQuery(options: LogOptions): URLSearchParams {
  const { tail, since, sinceTime } = options;
  const query = new URLSearchParams();
  for (const name of ["follow", "previous", "timestamps"] as const) if (options[name] === true) query.set(name, "true");
  if (since !== undefined && sinceTime !== undefined) {
    throw new CliError(EXIT.usage, "--since and --since-time exclude each other");
  }
  const lines = tail === undefined ? -1 : wholeNumber("--tail", tail, -1);
  if (lines >= 0) query.set("tailLines", String(lines));
  if (since !== undefined) {
    // The route takes whole seconds; 0 is no limit, as kubectl has it.
    const seconds = Math.ceil(goDurationMs("--since", since) / 1000);
    if (seconds > 0) query.set("sinceSeconds", String(seconds));
  }
  if (sinceTime !== undefined) query.set("sinceTime", rfc3339(sinceTime));
  return query;
}

function rfc3339(text: string): string {
  if (isGoTime(text)) return text;
  throw new CliError(
    EXIT.usage,
    `--since-time ${JSON.stringify(text)} is no time`,
    "give one such as 2026-01-02T15:04:05Z",
  );
}
