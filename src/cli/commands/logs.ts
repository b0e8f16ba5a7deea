// nodelet logs: the log of a container, as kubectl logs has it, without an API server.
import { pipeline } from "node:stream/promises";
import type { Context } from "../context.js";
import { EXIT, type ExitCode } from "../errors.js";
import { findPod, podsOf, containerName, podPath } from "../pods/find.js";

export interface LogOptions {
  namespace?: string;
  container?: string;
  follow?: boolean;
  previous?: boolean;
  timestamps?: boolean;
  tail?: string;
  since?: string;
}

export async function logsCommand({ client }: Context, named: string, options: LogOptions): Promise<ExitCode> {
  const pod = findPod(await podsOf(client), named, options.namespace);
  const query = new URLSearchParams();
  for (const name of ["follow", "previous", "timestamps"] as const) if (options[name] === true) query.set(name, "true");
  if (options.tail !== undefined) query.set("tailLines", options.tail);
  if (options.since !== undefined) query.set("sinceSeconds", options.since);
  const path = `/containerLogs/${podPath(pod)}/${encodeURIComponent(containerName(pod, options.container))}`;
  const response = await client.open(`${path}?${query.toString()}`);
  await pipeline(response, process.stdout, { end: false });
  return EXIT.fine;
}
