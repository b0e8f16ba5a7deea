// Masks secrets in configuration files of the runtime, of CNI and of the kubelet. Pure. A file is read as what it is,
// masked by its names, and written again without its comments. Text that cannot be read is left out: it may hold a
// secret anywhere.

import { stringify } from "yaml";
import { isRecord } from "../../shared/base/text/is-record.js";
import { readKubernetesYamls } from "../../shared/io/yaml/kubernetes-yaml.js";
import { readToml } from "../runtime/toml.js";
import { MASK, maskText } from "./mask-text.js";
import type { Secrets } from "./secrets.js";

type Form = "toml" | "json" | "yaml";

/** All below such a name is masked, whatever it is. */
const SECRET =
  /pass(word|wd|phrase|code)|^pwd|secret|token|credential|apikey|accesskey|privatekey|keydata|signature|cookie|header|bearer|salt|^auths?$|^user(name)?$|^login$/;
/** Secret as a text. As a table they are settings: of a KubeletConfiguration, or of TLS. */
const SECRET_TEXT = /^auth|key$|^cert(ificate)?data$/;
/** Masked, but too common to be looked for elsewhere. */
const USER = /^(user|login)/i;
const VARIABLES = /^env(s|ironment|vars)?$/;
const PATH = /^\/[\w./@-]{1,512}$/;
const NAMES_A_PATH = /(file|path|dir|directory|root|key|cert|ca)$/;
/** Long, without blanks, of mixed letters and digits: no name that a person gave. */
const OPAQUE = /^(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=\D*\d)[\w+/=-]{24,}$/;
const MAX_DOCUMENTS = 16;

/** @param secrets gets what was masked, so that it is masked in other texts, too */
export function maskConfig(text: string, form: Form, secrets: Secrets): string {
  const masks = new ConfigMasks(secrets);
  const leftOut = `(left out: it is no valid ${form.toUpperCase()}, so secrets in it cannot be told from the rest)\n`;
  try {
    switch (form) {
      case "json":
        return `${JSON.stringify(masks.tree(JSON.parse(text)), undefined, 2)}\n`;
      case "toml":
        return `${JSON.stringify(masks.tree(readToml(text)), undefined, 2)}\n`;
      case "yaml":
        return maskYaml(text, masks);
    }
  } catch {
    // The messages of parsers quote the text.
    return leftOut;
  }
}

/** Throws YamlError. */
function maskYaml(text: string, masks: ConfigMasks): string {
  const documents: string[] = [];
  for (const { root } of readKubernetesYamls(text)) {
    if (documents.length >= MAX_DOCUMENTS) break;
    documents.push(stringify(masks.tree(root.value), { lineWidth: 0 }));
  }
  return documents.join("---\n");
}

class ConfigMasks {
  constructor(private readonly secrets: Secrets) {}

  /** Names stay, values below a secret name do not. */
  tree(value: unknown, name = ""): unknown {
    const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
    if (VARIABLES.test(plain)) return maskVariables(value);
    if (SECRET.test(plain)) return this.all(value, plain);
    if (Array.isArray(value)) return value.map((one: unknown) => this.tree(one, name));
    if (isRecord(value)) return maskMap(value, (one, member) => this.tree(one, member));
    if (typeof value !== "string") return value;
    return SECRET_TEXT.test(plain) ? this.all(value, plain) : maskValue(value);
  }

  /** True and false say nothing; a path says where a secret is. */
  private all(value: unknown, name: string): unknown {
    if (value === null || value === "" || typeof value === "boolean") return value;
    if (Array.isArray(value)) return value.map((one: unknown) => this.all(one, name));
    if (isRecord(value)) return maskMap(value, (one, member) => this.all(one, USER.test(member) ? member : ""));
    if (typeof value === "string" && NAMES_A_PATH.test(name) && PATH.test(value)) return value;
    if (typeof value === "string" && !USER.test(name)) this.secrets.add(value);
    return MASK;
  }
}

/** "NAME=value", or a map of names. */
function maskVariables(value: unknown): unknown {
  if (typeof value === "string") {
    const equals = value.indexOf("=");
    return equals < 0 ? MASK : `${value.slice(0, equals)}=${MASK}`;
  }
  if (Array.isArray(value)) return value.map(maskVariables);
  return isRecord(value) ? maskMap(value, () => MASK) : value;
}

function maskValue(text: string): string {
  return OPAQUE.test(text) && !PATH.test(text) ? MASK : maskText(text);
}

/** A name may hold a secret, too: the address of a registry with its password. */
function maskMap(map: Record<string, unknown>, mask: (value: unknown, name: string) => unknown): unknown {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [maskValue(name), mask(value, name)]));
}
