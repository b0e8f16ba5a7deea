// Masks secrets in what leaves the node in a support bundle. Pure. When in doubt, it masks.
import type { Pod } from "../../shared/api/pod.js";

const MASK = "***";
/** A name like this in front of "=", ":" or a space has a secret behind it. */
const NAMED =
  /((?:password|passwd|secret|token|credential|authorization|api-?key|private-?key)[\w-]{0,20}["']?\s?[=:]\s?["']?)[^\s"',;]{1,4096}/gi;
const BEARER = /\b(bearer|basic) [\w.~+/=-]{6,4096}/gi;
const JWT = /\beyJ[\w-]{8,4096}\.[\w-]{8,4096}\.[\w-]{1,4096}/g;
const IN_URL = /:\/\/[^\s/@:]{1,256}:[^\s/@]{1,256}@/g;

export function maskText(text: string): string {
  return maskPem(text)
    .replace(BEARER, `$1 ${MASK}`)
    .replace(NAMED, `$1${MASK}`)
    .replace(JWT, MASK)
    .replace(IN_URL, `://${MASK}@`);
}

/** Private keys, also of a text that is cut inside one. */
function maskPem(text: string): string {
  const parts = text.split(/(?=-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----)/);
  return parts
    .map((part) => {
      if (!/^-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/.test(part)) return part;
      const end = part.indexOf("-----END");
      return end < 0 ? `-----PRIVATE KEY ${MASK}` : `-----PRIVATE KEY ${MASK} ${part.slice(end)}`;
    })
    .join("");
}

/** Values of environment variables, commands and annotations may hold anything: only their names stay. */
export function maskPod(pod: Pod): unknown {
  return JSON.parse(
    JSON.stringify(pod, (key, value: unknown) => {
      if (key === "annotations" && typeof value === "object" && value !== null) {
        return Object.fromEntries(Object.keys(value).map((name) => [name, MASK]));
      }
      if (key === "env" && Array.isArray(value)) return value.map(maskVariable);
      if ((key === "args" || key === "command") && Array.isArray(value)) return value.map(() => MASK);
      if (key === "httpHeaders") return MASK;
      return typeof value === "string" ? maskText(value) : value;
    }),
  );
}

function maskVariable(variable: unknown): unknown {
  return typeof variable === "object" && variable !== null && "value" in variable
    ? { ...variable, value: MASK }
    : variable;
}
