// Masks secrets in text of any form: lines of a log, command lines, messages. Pure. When in doubt, it masks. Every
// pattern has an upper bound, and none begins in the middle of a word that it has passed: a hostile text costs linear
// time.

export const MASK = "***";

const NAMES =
  "pass(?:word|wd|phrase|code)|pwd|secret|token|credentials?|api[-_]?key|private[-_]?key|access[-_]?key|key[-_]data|signature|cookie";
/** A value in quotes, in escaped quotes, in brackets as Go prints a list, or up to the next blank. */
const VALUE = String.raw`\\{1,4}"[^"]{0,4096}"?|"(?:[^"\\]|\\.){0,4096}"?|'[^']{0,4096}'?|\[[^\]]{0,4096}\]?|[^\s"',;]{1,4096}`;
/** A name like this in front of "=" or ":" has a secret behind it. */
const NAMED = new RegExp(
  String.raw`((?:${NAMES})[\w.-]{0,40}\\{0,4}["']?[ \t]{0,4}(?:=>|[=:])[ \t]{0,4})(${VALUE})`,
  "gi",
);
/** "--token abc" */
const FLAG = new RegExp(String.raw`(-[\w-]{0,40}(?:${NAMES})[\w-]{0,20}[ \t]{1,4})(?!-)(${VALUE})`, "gi");
/** The whole header: a scheme may have several words. */
const HEADER =
  /((?:authorization|x-[\w-]{0,20}auth[\w-]{0,20})\\{0,4}["']?[ \t]{0,4}[=:][ \t]{0,4}[\\"'[]{0,4})([^"'\]\n]{1,4096})/gi;
const SCHEME = /\b(bearer|basic|digest|negotiate) [\w.~+/=-]{6,4096}/gi;
const JWT = /(?<![\w-])eyJ[\w-]{8,4096}\.[\w-]{8,4096}\.[\w-]{0,4096}/g;
/** Everything between "://" and the last "@" of the host; not the digest of an image. */
const IN_URL = /:\/\/[^\s/?#"'<>\\]{1,512}@(?!sha\d{3}:)/g;
const IN_QUERY = /([?&](?:sig|key|code|auth|x-amz-[a-z-]{1,30}|x-goog-[a-z-]{1,30})=)[^&\s"']{1,4096}/gi;
/** Tokens that are known by their form: bootstrap tokens of Kubernetes, and those of large services. */
const FORMS = [
  /(?<![\w.-])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w.-])/g,
  /(?<!\w)(?:gh[pousr]_|github_pat_|glpat-|dckr_pat_|dckr_oat_|npm_|xox[abeoprs]-|hf_|ya29\.)[\w.-]{10,512}/g,
  /(?<!\w)(?:AKIA|ASIA|AIza)[\w-]{12,128}/g,
];

export function maskText(text: string): string {
  const named = maskPem(text)
    .replace(SCHEME, `$1 ${MASK}`)
    .replace(HEADER, `$1${MASK}`)
    .replace(NAMED, (_all, name: string, value: string) => name + masked(value))
    .replace(FLAG, (_all, name: string, value: string) => name + masked(value))
    .replace(JWT, MASK)
    .replace(IN_URL, `://${MASK}@`)
    .replace(IN_QUERY, `$1${MASK}`);
  return FORMS.reduce((all, form) => all.replace(form, MASK), named);
}

/** With the quotes of the value, so that JSON stays JSON. */
function masked(value: string): string {
  const [open = ""] = /^\\{0,4}["']/.exec(value) ?? [];
  const isClosed = open !== "" && value.length > open.length && value.endsWith(open);
  return `${open}${MASK}${isClosed ? open : ""}`;
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
