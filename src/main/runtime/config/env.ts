// The environment of a container, in the precedence of section 16: envFrom, then env in order, then service variables that
// nobody set. Every value may use what was defined before it.
import type { Container, EnvFromSource, EnvVar, Pod } from "../../../shared/api/pod.js";
import { CreateContainerConfigError } from "./config-error.js";
import type { DownwardInput } from "./downward.js";
import { fieldValue, resourceFieldValue } from "./downward.js";
import { expand } from "./expand.js";

export interface EnvInput extends DownwardInput {
  container: Container;
  /** Variables of the services the pod may see; absent when there is no API server. */
  serviceEnv?: ReadonlyMap<string, string>;
}

/**
 * Name to value, in order of first definition. Throws CreateContainerConfigError when a source cannot be read: config maps
 * and secrets need an API server, which a stand-alone agent does not have.
 */
export function containerEnv(input: EnvInput): Map<string, string> {
  const env = new Map<string, string>();
  for (const source of input.container.envFrom ?? []) refuseEnvFrom(input.pod, source);
  const lookup = (name: string): string | undefined => env.get(name) ?? input.serviceEnv?.get(name);
  for (const variable of input.container.env ?? []) {
    env.set(variable.name, variableValue(input, variable, lookup));
  }
  for (const [name, value] of input.serviceEnv ?? []) {
    if (!env.has(name)) env.set(name, value);
  }
  return env;
}

function variableValue(input: EnvInput, variable: EnvVar, lookup: (name: string) => string | undefined): string {
  const from = variable.valueFrom;
  // An empty value counts as absent when a source is given, as upstream decides.
  if (variable.value || from === undefined) return expand(variable.value ?? "", lookup);
  const { namespace } = input.pod.metadata;
  if (from.fieldRef !== undefined) return fieldValue(input, from.fieldRef.fieldPath);
  if (from.resourceFieldRef !== undefined) {
    return resourceFieldValue(input, input.container, from.resourceFieldRef);
  }
  if (from.configMapKeyRef !== undefined) throw noClient("configMap", namespace, from.configMapKeyRef.name);
  if (from.secretKeyRef !== undefined) throw noClient("secret", namespace, from.secretKeyRef.name);
  throw new CreateContainerConfigError(
    `environment variable "${variable.name}" of container "${input.container.name}" has a source this node does not support`,
  );
}

function refuseEnvFrom(pod: Pod, source: EnvFromSource): void {
  const { namespace } = pod.metadata;
  if (source.configMapRef !== undefined) throw noClient("configMap", namespace, source.configMapRef.name);
  if (source.secretRef !== undefined) throw noClient("secret", namespace, source.secretRef.name);
}

function noClient(kind: "configMap" | "secret", namespace: string, name = ""): CreateContainerConfigError {
  return new CreateContainerConfigError(`couldn't get ${kind} ${namespace}/${name}, no kubeClient defined`);
}
