// Reads one file of CredentialProviderConfig, strictly: an unknown field, a wrong type, a missing value is a problem with
// its place. All problems come back together.
import type { LineCounter } from "yaml";
import { isTooDeepError, readKubernetesYaml } from "../../../shared/yaml/kubernetes-yaml.js";
import { parseDuration } from "../../command/duration.js";
import { nearest } from "../../command/nearest.js";
import { parsePattern } from "../keyring/image-match.js";
import { CONFIG_VERSIONS, PLUGIN_VERSIONS, type CredentialProviderSettings } from "./config.js";

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
const TOKEN_FIELDS = [
  "serviceAccountTokenAudience",
  "cacheType",
  "requireServiceAccount",
  "requiredServiceAccountAnnotationKeys",
  "optionalServiceAccountAnnotationKeys",
] as const;
const CACHE_TYPES = ["ServiceAccount", "Token"];

type Path = readonly (string | number)[];
type Members = Readonly<Record<string, unknown>>;

/** Never throws for what a file may hold. */
export function readProviderConfig(text: string, options: ReadOptions): ReadProviders {
  try {
    const { doc, lines } = readKubernetesYaml(text.replace(/^\uFEFF/, ""));
    const [broken] = doc.errors;
    if (broken !== undefined) {
      const { line, col } = lines.linePos(broken.pos[0]);
      return refused(options, `${line}:${col}: ${broken.message.split("\n")[0] ?? ""}`);
    }
    const placeOf = (path: Path): string => place(path, lines, (at) => doc.getIn(at, true));
    return new ProviderReader(options, placeOf).read(doc.toJS({ maxAliasCount: 100 }) as unknown);
  } catch (error) {
    if (isTooDeepError(error)) return refused(options, ` ${error.message}`);
    if (error instanceof ReferenceError || error instanceof RangeError) return refused(options, " too many aliases");
    throw error;
  }
}

function refused({ file }: ReadOptions, why: string): ReadProviders {
  return { providers: [], problems: [`${file}:${why}`] };
}

/** "3:5" of the node at the path, or of the nearest one above it. */
function place(path: Path, lines: LineCounter, nodeAt: (path: Path) => unknown): string {
  for (let length = path.length; length >= 0; length--) {
    const node = nodeAt(path.slice(0, length)) as { range?: [number, number, number] } | undefined;
    if (node?.range === undefined) continue;
    const { line, col } = lines.linePos(node.range[0]);
    return `${line}:${col}`;
  }
  return "1:1";
}

class ProviderReader {
  private readonly problems: string[] = [];

  constructor(
    private readonly options: ReadOptions,
    private readonly placeOf: (path: Path) => string,
  ) {}

  read(root: unknown): ReadProviders {
    const members = this.object(root, [], ["apiVersion", "kind", "providers"]);
    if (members === undefined) return { providers: [], problems: this.problems };
    if (members["kind"] !== KIND) this.problem(["kind"], `must be ${KIND}`);
    this.oneOf(members, [], "apiVersion", CONFIG_VERSIONS);
    const list = members["providers"];
    if (!Array.isArray(list) || list.length === 0) {
      this.problem(["providers"], "must name one provider at least");
      return { providers: [], problems: this.problems };
    }
    const providers = list.flatMap((item: unknown, index) => this.provider(item, ["providers", index]) ?? []);
    return { providers, problems: this.problems };
  }

  private provider(value: unknown, path: Path): CredentialProviderSettings | undefined {
    const members = this.object(value, path, PROVIDER_FIELDS);
    if (members === undefined) return undefined;
    const name = this.text(members, path, "name");
    if (name !== "" && (/[\s/]/.test(name) || name === "." || name === "..")) {
      this.problem([...path, "name"], `"${name}" is not the name of a file in the directory of the plugins`);
    }
    const matchImages = this.texts(members, path, "matchImages");
    if (matchImages.length === 0) this.problem([...path, "matchImages"], "must have one pattern at least");
    for (const [index, pattern] of matchImages.entries()) {
      if (parsePattern(pattern) !== undefined) continue;
      const example = "a host with globs, a port and a path, as *.registry.example:5000/team";
      this.problem([...path, "matchImages", index], `"${pattern}" is no pattern of images: ${example}`);
    }
    const tokenAttributes = this.tokenAttributes(members["tokenAttributes"], [...path, "tokenAttributes"]);
    return {
      name,
      matchImages,
      defaultCacheDurationMs: this.duration(members, path, "defaultCacheDuration"),
      apiVersion: this.oneOf(members, path, "apiVersion", PLUGIN_VERSIONS),
      args: this.texts(members, path, "args"),
      env: this.env(members["env"], [...path, "env"]),
      ...(tokenAttributes === undefined ? {} : { tokenAttributes }),
    };
  }

  private env(value: unknown, path: Path): { name: string; value: string }[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) {
      this.problem(path, "must be a list of name and value");
      return [];
    }
    return value.flatMap((item: unknown, index) => {
      const members = this.object(item, [...path, index], ["name", "value"]);
      if (members === undefined) return [];
      const { value: text = "" } = members;
      if (typeof text !== "string") this.problem([...path, index, "value"], "must be a text; put it in quotes");
      return { name: this.text(members, [...path, index], "name"), value: String(text) };
    });
  }

  private tokenAttributes(value: unknown, path: Path): { requireServiceAccount: boolean } | undefined {
    if (value === undefined || value === null) return undefined;
    const members = this.object(value, path, TOKEN_FIELDS);
    if (members === undefined) return undefined;
    if (!this.options.tokensAllowed) {
      this.problem(path, "needs the feature gate KubeletServiceAccountTokenForCredentialProviders");
    }
    this.text(members, path, "serviceAccountTokenAudience");
    this.oneOf(members, path, "cacheType", CACHE_TYPES);
    const required = members["requireServiceAccount"];
    if (typeof required !== "boolean") this.problem([...path, "requireServiceAccount"], "must be true or false");
    const keys = this.texts(members, path, "requiredServiceAccountAnnotationKeys");
    this.texts(members, path, "optionalServiceAccountAnnotationKeys");
    if (required === false && keys.length > 0) {
      this.problem([...path, "requiredServiceAccountAnnotationKeys"], "has a meaning only with requireServiceAccount");
    }
    return { requireServiceAccount: required === true };
  }

  private object(value: unknown, path: Path, known: readonly string[]): Members | undefined {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.problem(path, "must be a map of fields");
      return undefined;
    }
    for (const name of Object.keys(value)) {
      if (known.includes(name)) continue;
      const meant = nearest(name, known);
      this.problem([...path, name], `unknown field${meant === undefined ? "" : `; did you mean ${meant}?`}`);
    }
    return value as Members;
  }

  private text(members: Members, path: Path, name: string): string {
    const value = members[name];
    if (typeof value === "string" && value !== "") return value;
    this.problem([...path, name], value === undefined || value === null ? "is missing" : "must be a text");
    return "";
  }

  private texts(members: Members, path: Path, name: string): string[] {
    const value = members[name] ?? [];
    if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
    this.problem([...path, name], "must be a list of texts");
    return [];
  }

  private oneOf(members: Members, path: Path, name: string, values: readonly string[]): string {
    const value = this.text(members, path, name);
    if (value !== "" && !values.includes(value)) {
      this.problem([...path, name], `"${value}" is not one of ${values.join(", ")}`);
    }
    return value;
  }

  private duration(members: Members, path: Path, name: string): number {
    const text = this.text(members, path, name);
    const ms = text === "" ? 0 : parseDuration(text);
    if (ms !== undefined && ms >= 0) return ms;
    this.problem([...path, name], `"${text}" is not a duration of 0 or more, as 12h or 1m30s`);
    return 0;
  }

  private problem(path: Path, message: string): void {
    const name = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("");
    const what = name === "" ? "" : ` ${name.replace(/^\./, "")}:`;
    this.problems.push(`${this.options.file}:${this.placeOf(path)}:${what} ${message}`);
  }
}
