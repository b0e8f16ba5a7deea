// Registry credentials as docker keeps them: config.json ("auths" by registry; Secret type dockerconfigjson) and the
// older .dockercfg (registries at the top; Secret type dockercfg).
// Names of fields are read in any case, as Go's encoding/json has it.
// Invariant: no message ever carries a part of such a text.

import { foldedMember } from "../../../../shared/base/text/folded-member.js";
import { isRecord } from "../../../../shared/base/text/is-record.js";
import { nestsDeeper } from "../../../../shared/base/text/nesting.js";
import { quote } from "../../../../shared/base/text/quote.js";
import { withoutTrailing } from "../../../../shared/base/text/without-trailing.js";
import { AuthConfig } from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";

/** Docker's own format has four levels; tools add fields. */
const MAX_DEPTH = 32;

export type DockerConfigForm = "config.json" | "dockercfg";

/** The text is no docker configuration, or one of its entries is unusable. */
export class DockerConfigError extends Error {
  override readonly name = "DockerConfigError";
}

export interface DockerConfig {
  /** By registry, as written: a host, a pattern, a URL. */
  auths: ReadonlyMap<string, AuthConfig>;
  /** Entries that can't be used, and why. */
  problems: string[];
}

/** Throws DockerConfigError if the whole text is unusable. */
export function readDockerConfig(text: string, form: DockerConfigForm): DockerConfig {
  if (nestsDeeper(text, MAX_DEPTH)) throw new DockerConfigError(`it nests more than ${MAX_DEPTH} levels deep`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw new DockerConfigError("it is not JSON");
  }
  if (!isRecord(value)) throw new DockerConfigError("it is not a JSON object");
  const entries = form === "config.json" ? (foldedMember(value, "auths") ?? {}) : value;
  if (!isRecord(entries)) throw new DockerConfigError('"auths" is not an object');
  const auths = new Map<string, AuthConfig>();
  const problems: string[] = [];
  for (const [registry, entry] of Object.entries(entries)) {
    try {
      auths.set(registry, authOf(entry));
    } catch (error) {
      if (!(error instanceof DockerConfigError)) throw error;
      problems.push(`registry ${quote(registry)}: ${error.message}`);
    }
  }
  return { auths, problems };
}

function authOf(given: unknown): AuthConfig {
  const entry = given ?? {};
  if (!isRecord(entry)) throw new DockerConfigError("the entry is not an object");
  const text = (name: string): string => {
    const value = foldedMember(entry, name) ?? "";
    if (typeof value !== "string") throw new DockerConfigError(`${quote(name)} is not a text`);
    return value;
  };
  const [username, password] = text("auth") === "" ? [text("username"), text("password")] : decodeAuth(text("auth"));
  return AuthConfig.fromPartial({
    username,
    password,
    identityToken: text("identitytoken"),
    registryToken: text("registrytoken"),
  });
}

/** "auth" is base64 of user:password, padded or not; it wins over username and password. */
function decodeAuth(written: string): [username: string, password: string] {
  // Go's decoder passes over line ends, which tools put after each 76 characters.
  const auth = written.replace(/[\r\n]/g, "");
  if (!/^[A-Za-z0-9+/]+=*\s*$/.test(auth)) throw new DockerConfigError('"auth" is not base64');
  // Some tools pad the decoded text with zero bytes.
  const text = withoutTrailing(Buffer.from(auth, "base64").toString("utf8"), "\0");
  const colon = text.indexOf(":");
  if (colon < 0) throw new DockerConfigError('"auth" is not user:password in base64');
  return [text.slice(0, colon), text.slice(colon + 1)];
}
