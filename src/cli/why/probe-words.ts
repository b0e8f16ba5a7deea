// A probe, its answers and remedies in words. Pure.

import type { ProbeAnswer } from "../../shared/contracts/nodelet.js";
import type { Probe } from "../../shared/kubernetes/api/pod.js";

export function describeProbe(probe: Probe): string {
  const { exec, httpGet, tcpSocket, grpc } = probe;
  if (exec !== undefined) return `exec ${(exec.command ?? []).join(" ")}`;
  if (httpGet !== undefined) return `GET ${httpGet.path ?? "/"} on port ${httpGet.port}`;
  if (tcpSocket !== undefined) return `TCP port ${tcpSocket.port}`;
  if (grpc === undefined) return "no handler";
  return `gRPC port ${grpc.port}${grpc.service === undefined || grpc.service === "" ? "" : ` (service ${grpc.service})`}`;
}

/** "answered 500, then answered 404": one part per answer, oldest first. */
export function describeAnswers(answers: readonly ProbeAnswer[], probe: Probe): string {
  const parts = answers.map(({ text }) => describeAnswer(text, probe));
  return [...new Set(parts)].join(", then ");
}

function describeAnswer(output: string, probe: Probe): string {
  const code = /statuscode: (\d+)/i.exec(output)?.[1];
  if (code !== undefined) return `answered ${code}`;
  const serving = /responded with "(\w+)"/i.exec(output)?.[1];
  if (serving !== undefined) return `answered ${serving}`;
  if (/connection refused/i.test(output)) return "was refused (connection refused)";
  if (isUnconnected(output)) return `found no gRPC server within ${probe.timeoutSeconds ?? 1} s`;
  if (isTimeout(output))
    return `${probe.exec === undefined ? "had no answer" : "did not end"} within ${probe.timeoutSeconds ?? 1} s`;
  return output.trim() === "" ? "failed without output" : `failed with "${output.trim()}"`;
}

/** A gRPC client tries again until its time is up, also where nothing listens. */
function isUnconnected(output: string): boolean {
  return /failed to connect service/i.test(output);
}

function isTimeout(output: string): boolean {
  return /timed? ?out|deadline/i.test(output);
}

/** `pod` and `container`: the names for commands. */
export function probeHelp(output: string, probe: Probe, pod: string, container: string): string[] {
  if (/connection refused/i.test(output)) {
    return [
      "no program listens on this port in the pod: check the port, and that the program listens on all addresses, not on 127.0.0.1",
    ];
  }
  if (isUnconnected(output)) {
    return [
      "no program listens on this port in the pod, or it does not speak gRPC: check the port, and that the server listens on all addresses, without TLS",
    ];
  }
  if (isTimeout(output)) {
    return [
      `the response took longer than timeoutSeconds (${probe.timeoutSeconds ?? 1} s): raise it, or make the response faster`,
    ];
  }
  if (/statuscode: \d+/i.test(output))
    return ["the program responds with an error: check the probe's path, and the program's own dependencies"];
  if (probe.exec === undefined) return ["check the probe's settings against the program"];
  const command = (probe.exec.command ?? []).map(shellWord).join(" ");
  return [`run the probe by hand: nodelet exec ${pod} -c ${container} -- ${command}`];
}

/** For a command line that a reader copies. */
function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
