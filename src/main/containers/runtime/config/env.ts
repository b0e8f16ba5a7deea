// The environment of a container, in upstream's order: envFrom, then env, then service variables that the container
// does not set. A value may use variables defined before it. Config maps, secrets and files come through the port
// EnvSources.

import { quote } from "../../../../shared/base/text/quote.js";
import { isNotFound } from "../../../../shared/kubernetes/api/client/errors.js";
import type { Container, EnvFromSource, EnvVar } from "../../../../shared/kubernetes/api/pod.js";
import { CreateContainerConfigError } from "../../../model/container-config-error.js";
import { type DownwardInput, fieldValue, resourceFieldValue } from "../../../model/downward.js";
import { missingKey, withFacts } from "../../../model/error-facts.js";
import { expand, ExpansionBudget } from "../../../model/expand.js";
import { EnvBudget } from "./env-budget.js";

/** Sources of environment variables besides the pod itself; names are in the pod's namespace. */
export interface EnvSources {
  /** Keys to values. Rejects with the API server's error, or CreateContainerConfigError. */
  configMap(name: string): Promise<ReadonlyMap<string, string>>;
  secret(name: string): Promise<ReadonlyMap<string, string>>;
  /**
   * Value of a key in a file of a volume; "" when the file has no such key. Rejects with CreateContainerConfigError.
   */
  fileValue?(ref: { volumeName: string; path: string; key: string }): Promise<string>;
}

export interface EnvInput extends DownwardInput {
  container: Container;
  sources: EnvSources;
  /** Variables of the services the pod may see; absent when there is no API server. */
  serviceEnv?: ReadonlyMap<string, string> | undefined;
  /** Names from a config map or secret that no process could have; they are left out. */
  onInvalidNames?(names: readonly string[], kind: "configMap" | "secret", object: string): void;
}

/** Name to value, in order of first definition. Rejects when a source cannot be read that is not optional. */
export async function containerEnv(input: EnvInput): Promise<Map<string, string>> {
  const env = new Map<string, string>();
  const size = new EnvBudget();
  const set = (name: string, value: string): void => {
    size.spend(name, value);
    env.set(name, value);
  };
  for (const source of input.container.envFrom ?? []) {
    for (const [name, value] of await variablesFrom(input, source)) set(name, value);
  }
  const lookup = (name: string): string | undefined => env.get(name) ?? input.serviceEnv?.get(name);
  const budget = new ExpansionBudget();
  for (const variable of input.container.env ?? []) {
    const value = await variableValue(input, variable, (text) => expand(text, lookup, budget));
    if (value !== undefined) set(variable.name, value);
  }
  for (const [name, value] of input.serviceEnv ?? []) {
    if (!env.has(name)) env.set(name, value);
  }
  return env;
}

/** As the API wants names since RelaxedEnvironmentVariableValidation: printable ASCII without "=". */
const POSSIBLE_NAME = /^[ -<>-~]+$/;

async function variablesFrom(input: EnvInput, source: EnvFromSource): Promise<[string, string][]> {
  const { prefix = "", configMapRef, secretRef } = source;
  const kind = configMapRef !== undefined ? "configMap" : "secret";
  const { name = "", optional = false } = configMapRef ?? secretRef ?? {};
  if (configMapRef === undefined && secretRef === undefined) return [];
  const data = await orAbsent(input.sources[kind](name), optional);
  const variables = [...(data ?? [])].map(([key, value]): [string, string] => [`${prefix}${key}`, value]);
  const invalid = variables.map(([variable]) => variable).filter((variable) => !POSSIBLE_NAME.test(variable));
  if (invalid.length === 0) return variables;
  input.onInvalidNames?.(invalid.sort(), kind, name);
  return variables.filter(([variable]) => POSSIBLE_NAME.test(variable));
}

/** undefined: optional, and not there. */
async function variableValue(
  input: EnvInput,
  variable: EnvVar,
  expanded: (text: string) => string,
): Promise<string | undefined> {
  const from = variable.valueFrom;
  // An empty value counts as absent if a source is set, as upstream decides.
  if (variable.value || from === undefined) return expanded(variable.value ?? "");
  const { sources } = input;
  if (from.fieldRef !== undefined) return fieldValue(input, from.fieldRef.fieldPath);
  if (from.resourceFieldRef !== undefined) return resourceFieldValue(input, from.resourceFieldRef, input.container);
  if (from.configMapKeyRef !== undefined) {
    return keyOf(input, "ConfigMap", from.configMapKeyRef, (name) => sources.configMap(name));
  }
  if (from.secretKeyRef !== undefined) {
    return keyOf(input, "Secret", from.secretKeyRef, (name) => sources.secret(name));
  }
  if (from.fileKeyRef !== undefined && sources.fileValue !== undefined) {
    const { key, path, optional = false } = from.fileKeyRef;
    const value = await sources.fileValue(from.fileKeyRef);
    if (value !== "") return value;
    if (optional) return undefined;
    throw new CreateContainerConfigError(`environment variable key ${quote(key)} not found in file ${quote(path)}`);
  }
  throw new CreateContainerConfigError(
    `environment variable ${quote(variable.name)} of container ${quote(input.container.name)} has a source this node does not support`,
  );
}

async function keyOf(
  { pod }: EnvInput,
  kind: "ConfigMap" | "Secret",
  { name = "", key, optional = false }: { name?: string; key: string; optional?: boolean },
  read: (name: string) => Promise<ReadonlyMap<string, string>>,
): Promise<string | undefined> {
  const data = await orAbsent(read(name), optional);
  const value = data?.get(key);
  if (value !== undefined || optional) return value;
  const object = `${pod.metadata.namespace}/${name}`;
  const error = new CreateContainerConfigError(`couldn't find key ${key} in ${kind} ${object}`);
  throw withFacts(error, missingKey(key, `${kind} ${object}`, data?.keys() ?? []));
}

async function orAbsent<T>(read: Promise<T>, optional: boolean): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (optional && isNotFound(error)) return undefined;
    throw error;
  }
}
