// The exec part of a kubeconfig's user: how to run the program that prints credentials.

import { join, dirname } from "path/posix";
import { omitUndefined } from "../../../../base/objects/omit-undefined.js";
import { quote } from "../../../../base/text/quote.js";
import type { ClientConfig } from "../config.js";
import type { KubeconfigError } from "./errors.js";
import type { Fields } from "./tree.js";

const EXEC_VERSIONS: readonly string[] = ["v1", "v1beta1"].map((v) => `client.authentication.k8s.io/${v}`);
const EXTENSION = "client.authentication.k8s.io/exec";

/** Throws KubeconfigError. */
export function readExec(
  user: Fields,
  cluster: Fields,
  file: string,
  tolerated: (problem: KubeconfigError) => void,
): Partial<ClientConfig> {
  if (!user.has("exec")) return {};
  const exec = user.map("exec");
  const command = exec.text("command");
  if (command === "") throw exec.wrong("command", "is missing: the program that prints credentials");
  const apiVersion = exec.text("apiVersion");
  if (!EXEC_VERSIONS.includes(apiVersion)) {
    const instead = `must be one of ${EXEC_VERSIONS.join(", ")}`;
    throw exec.wrong("apiVersion", apiVersion === "" ? `is missing: it ${instead}` : `${quote(apiVersion)} ${instead}`);
  }
  const mode = exec.text("interactiveMode");
  const needsTerminal = mode === "Always";
  if (needsTerminal)
    tolerated(exec.wrong("interactiveMode", "is Always, and the kubelet has no terminal for a prompt"));
  if (mode === "" && apiVersion.endsWith("/v1")) {
    throw exec.wrong("interactiveMode", "is missing: it must be Never or IfAvailable");
  }
  if (mode !== "" && mode !== "Never" && mode !== "IfAvailable" && !needsTerminal) {
    throw exec.wrong("interactiveMode", `${quote(mode)} must be Never or IfAvailable`);
  }
  const provideClusterInfo = exec.bool("provideClusterInfo");
  const extension = provideClusterInfo
    ? cluster.list("extensions").find((each) => each.text("name") === EXTENSION)
    : undefined;
  return {
    exec: omitUndefined({
      apiVersion,
      // A path with a slash is relative to the kubeconfig's folder; a bare name is looked for in PATH.
      command: command.includes("/") && !command.startsWith("/") ? join(dirname(file), command) : command,
      args: exec.texts("args"),
      env: exec.list("env").map(readVariable),
      installHint: exec.text("installHint"),
      provideClusterInfo,
      needsTerminal: needsTerminal ? true : undefined,
      clusterConfig: extension?.raw("extension"),
    }),
  };
}

function readVariable(variable: Fields): { name: string; value: string } {
  const name = variable.text("name");
  if (name === "") throw variable.wrong("name", "is missing: the name of an environment variable");
  return { name, value: variable.text("value") };
}
