// Which ConfigMap a Node object assigns as configuration of its kubelet. Pure.
// Invariant: any value gives an assignment, an error, or none; the annotation has precedence over spec.configSource,
// which API servers up to 1.23 serve.

import { isRecord } from "../../../shared/base/text/is-record.js";
import {
  CONFIG_SOURCE_ANNOTATION,
  DEFAULT_CONFIG_KEY,
  type ConfigMapReference,
} from "../../../shared/kubernetes/api/config-source.js";
import type { Node } from "../../../shared/kubernetes/api/node.js";

/** undefined: the Node assigns nothing. */
export type Assignment = { readonly reference: ConfigMapReference } | { readonly problem: string } | undefined;

const MAX_CHARACTERS = 4096;
const FORMS = `write "<namespace>/<name>", "<namespace>/<name>/<key>", or {"configMap": {"namespace": …, "name": …, "kubeletConfigKey": …}}`;
const MEMBERS = ["namespace", "name", "kubeletConfigKey", "uid", "resourceVersion"];
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/;
const KEY = /^[-._a-zA-Z0-9]{1,253}$/;

export function assignmentOf(node: Node): Assignment {
  const text: unknown = node.metadata.annotations?.[CONFIG_SOURCE_ANNOTATION];
  if (text !== undefined) return attempt(`annotation ${CONFIG_SOURCE_ANNOTATION}`, () => fromAnnotation(text));
  const source = node.spec?.configSource;
  if (source === undefined || source === null) return undefined;
  return attempt("spec.configSource", () => fromSource(source));
}

/** A refusal, as the end of a sentence about the assignment. */
class AssignmentProblem extends Error {}

function attempt(where: string, read: () => ConfigMapReference): Assignment {
  try {
    return { reference: read() };
  } catch (error) {
    if (!(error instanceof AssignmentProblem)) throw error;
    return { problem: `${where} of the Node is invalid: ${error.message}` };
  }
}

function fromAnnotation(text: unknown): ConfigMapReference {
  if (typeof text !== "string") throw new AssignmentProblem(`not a text; ${FORMS}`);
  if (text.length > MAX_CHARACTERS) throw new AssignmentProblem(`longer than ${MAX_CHARACTERS} characters; ${FORMS}`);
  const value = text.trim();
  if (value.startsWith("{")) return fromSource(parsed(value));
  const parts = value.split("/");
  if (parts.length < 2 || parts.length > 3) throw new AssignmentProblem(`${shown(value)}; ${FORMS}`);
  const [namespace, name, kubeletConfigKey = DEFAULT_CONFIG_KEY] = parts;
  return checked({ namespace, name, kubeletConfigKey });
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw new AssignmentProblem(`no valid JSON; ${FORMS}`);
  }
}

function fromSource(source: unknown): ConfigMapReference {
  if (!isRecord(source)) throw new AssignmentProblem(`expected an object; ${FORMS}`);
  const unknown = Object.keys(source).filter((member) => member !== "configMap");
  if (unknown.length > 0) throw new AssignmentProblem(`unknown member ${shown(unknown[0])}; ${FORMS}`);
  const { configMap } = source;
  if (configMap === undefined || configMap === null) {
    throw new AssignmentProblem("exactly one member must be set, but none was; set configMap");
  }
  if (!isRecord(configMap)) throw new AssignmentProblem(`configMap: expected an object; ${FORMS}`);
  const foreign = Object.keys(configMap).filter((member) => !MEMBERS.includes(member));
  if (foreign.length > 0) {
    throw new AssignmentProblem(`configMap: unknown member ${shown(foreign[0])}; known: ${MEMBERS.join(", ")}`);
  }
  return checked({ kubeletConfigKey: DEFAULT_CONFIG_KEY, ...configMap });
}

function checked(found: Record<string, unknown>): ConfigMapReference {
  const named = (member: string, pattern: RegExp, what: string): string => {
    const value = found[member];
    if (typeof value === "string" && pattern.test(value)) return value;
    throw new AssignmentProblem(`${member}: ${value === undefined ? "missing" : shown(value)} is not ${what}`);
  };
  const optional = (member: "uid" | "resourceVersion"): Partial<ConfigMapReference> => {
    const value = found[member];
    if (value === undefined || value === null || value === "") return {};
    if (typeof value !== "string") throw new AssignmentProblem(`${member}: ${shown(value)} is not a text`);
    return { [member]: value };
  };
  return {
    namespace: named("namespace", LABEL, "the name of a namespace"),
    name: named("name", SUBDOMAIN, "the name of a ConfigMap"),
    kubeletConfigKey: named("kubeletConfigKey", KEY, "a key of a ConfigMap"),
    ...optional("uid"),
    ...optional("resourceVersion"),
  };
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 100);
}
