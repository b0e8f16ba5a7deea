// The answer of --check-config: problems of the configuration, and those of the files that it and the flags name.
// Errors are what upstream's kubelet does not start with.

import { escaped, oneLine } from "../../../shared/base/text/printable.js";
import type { CheckRequest } from "../../command/command-request.js";
import { problemOf, reportLines } from "../../command/config/report.js";
import type { Settings } from "../../command/settings.js";
import { adminSocketFindings } from "./admin-socket.js";
import { kubeconfigFindings, providerFindings } from "./cluster-files.js";
import { dockerFindings } from "./docker-files.js";
import type { Finding } from "./finding.js";
import { nodeFindings, nodePathsOf } from "./node-files.js";
import { tlsFindings } from "./tls-files.js";

export interface CheckAnswer {
  /** Standard output; "": there are errors. */
  readonly out: string;
  /** Standard error: a line each. */
  readonly err: string;
  readonly exitCode: 0 | 1;
}

export async function answerCheck({ settings, problems, files }: CheckRequest): Promise<CheckAnswer> {
  const found = await findingsOf(settings);
  const lines = (severity: Finding["severity"]): string[] => linesOf(found, severity, { settings, files });
  const errors = [...problems, ...lines("error")];
  const warnings = lines("warning").map((line) => `warning: ${line}`);
  const err = [...errors, ...warnings].map((line) => `${line}\n`).join("");
  if (errors.length > 0) return { out: "", err, exitCode: 1 };
  return { out: ["ok", ...files.map(escaped), ""].join("\n"), err, exitCode: 0 };
}

async function findingsOf(settings: Settings): Promise<Finding[]> {
  const { server, images } = settings;
  // A process that only serves CRI reads none of the others.
  if (settings.docker.mode === "server") return await dockerFindings(settings.docker);
  const found = await Promise.all([
    kubeconfigFindings(settings),
    providerFindings({ ...settings, ...images }),
    tlsFindings({ ...server, clientCAFile: server.authentication.clientCAFile }),
    nodeFindings(nodePathsOf(settings)),
    dockerFindings(settings.docker),
    adminSocketFindings(settings),
  ]);
  return found.flat();
}

function linesOf(
  found: readonly Finding[],
  severity: Finding["severity"],
  { settings, files }: Pick<CheckRequest, "settings" | "files">,
): string[] {
  const wanted = found.filter((one) => one.severity === severity);
  const placed = wanted.filter(({ path }) => path !== "").map((one) => problemOf(one, settings.config));
  const others = wanted.filter(({ path }) => path === "").map(({ message }) => message);
  return [...others, ...reportLines(placed, files)].map(oneLine);
}
