// Reads one file of CredentialProviderConfig strictly. An unknown field, wrong type or missing value is a problem with
// its place. All problems come back together.

import { omitUndefined } from "../../../../shared/base/objects/omit-undefined.js";
import { quote } from "../../../../shared/base/text/quote.js";
import { readKubernetesYaml } from "../../../../shared/io/yaml/kubernetes-yaml.js";
import { offsetAt } from "../../../../shared/io/yaml/tree.js";
import { YamlError } from "../../../../shared/io/yaml/yaml-error.js";
import { parsePattern } from "../keyring/image-match.js";
import { CONFIG_VERSIONS, PLUGIN_VERSIONS, type CredentialProviderSettings } from "./config.js";
import { FieldReader, type Path } from "./field-reader.js";
import { readTokenAttributes } from "./token-attributes.js";

export interface ReadProviders {
  providers: CredentialProviderSettings[];
  problems: string[];
}

export interface ReadOptions {
  /** For messages. */
  file: string;
  /** KubeletServiceAccountTokenForCredentialProviders. */
  tokensAllowed: boolean;
}

const KIND = "CredentialProviderConfig";
const PROVIDER_FIELDS = [
  "name",
  "matchImages",
  "defaultCacheDuration",
  "apiVersion",
  "args",
  "env",
  "tokenAttributes",
] as const;

/** Returns violations for any content; never throws. */
export function readProviderConfig(text: string | Uint8Array, options: ReadOptions): ReadProviders {
  const refused = (why: string): ReadProviders => ({ providers: [], problems: [`${options.file}:${why}`] });
  try {
    const { root, lines } = readKubernetesYaml(text);
    const placeOf = (path: Path): string => {
      const { line, column } = lines.at(offsetAt(root, path));
      return `${line}:${column}`;
    };
    return new ProviderReader(options, placeOf).read(root.value);
  } catch (error) {
    if (error instanceof YamlError) return refused(`${error.line}:${error.column}: ${error.message}`);
    if (error instanceof RangeError) return refused(" nested too deeply");
    throw error;
  }
}

class ProviderReader {
  private readonly fields: FieldReader;
  private configVersion: unknown;

  constructor(
    private readonly options: ReadOptions,
    placeOf: (path: Path) => string,
  ) {
    this.fields = new FieldReader(options.file, placeOf);
  }

  read(root: unknown): ReadProviders {
    const { fields } = this;
    const { problems } = fields;
    const members = fields.object(root, [], ["apiVersion", "kind", "providers"]);
    if (members === undefined) return { providers: [], problems };
    if (members["kind"] !== KIND) fields.problem(["kind"], `must be ${KIND}`);
    this.configVersion = fields.oneOf(members, [], "apiVersion", CONFIG_VERSIONS);
    const list = members["providers"];
    if (!Array.isArray(list) || list.length === 0) {
      fields.problem(["providers"], "must name one provider at least");
      return { providers: [], problems };
    }
    const providers = list.flatMap((item: unknown, index) => this.provider(item, ["providers", index]) ?? []);
    return { providers, problems };
  }

  private provider(value: unknown, path: Path): CredentialProviderSettings | undefined {
    const { fields } = this;
    const members = fields.object(value, path, PROVIDER_FIELDS);
    if (members === undefined) return undefined;
    const name = fields.text(members, path, "name");
    if (name !== "" && (/[\s/]/.test(name) || name === "." || name === "..")) {
      fields.problem([...path, "name"], `${quote(name)} is not the name of a file in the directory of the plugins`);
    }
    const matchImages = fields.texts(members, path, "matchImages");
    if (matchImages.length === 0) fields.problem([...path, "matchImages"], "must have one pattern at least");
    for (const [index, pattern] of matchImages.entries()) {
      if (parsePattern(pattern) !== undefined) continue;
      const example = "a host with globs, a port and a path, as *.registry.example:5000/team";
      fields.problem([...path, "matchImages", index], `${quote(pattern)} is no pattern of images: ${example}`);
    }
    const apiVersion = fields.oneOf(members, path, "apiVersion", PLUGIN_VERSIONS) ?? "";
    const tokenAttributes = readTokenAttributes(fields, members["tokenAttributes"], [...path, "tokenAttributes"], {
      allowed: this.options.tokensAllowed,
      configVersion: this.configVersion,
      pluginVersion: apiVersion,
    });
    return omitUndefined({
      name,
      matchImages,
      defaultCacheDurationMs: fields.duration(members, path, "defaultCacheDuration"),
      apiVersion,
      args: fields.texts(members, path, "args"),
      env: this.env(members["env"], [...path, "env"]),
      tokenAttributes,
    });
  }

  private env(value: unknown, path: Path): { name: string; value: string }[] {
    const { fields } = this;
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) {
      fields.problem(path, "must be a list of name and value");
      return [];
    }
    return value.flatMap((item: unknown, index) => {
      const members = fields.object(item, [...path, index], ["name", "value"]);
      if (members === undefined) return [];
      const text = members["value"] ?? "";
      const isText = typeof text === "string";
      if (!isText) fields.problem([...path, index, "value"], "must be a text; put it in quotes");
      return { name: fields.text(members, [...path, index], "name"), value: isText ? text : "" };
    });
  }
}
