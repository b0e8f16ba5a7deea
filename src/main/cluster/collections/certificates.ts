// Certificates in PEM: the same however their text is wrapped; those of bundles each once, in an order that does not
// change.

const BEGIN = "-----BEGIN CERTIFICATE-----";
const END = "-----END CERTIFICATE-----";
const LINE = 64;

export function distinctCertificates(texts: readonly string[]): string {
  return printed([...new Set(texts.flatMap(bodiesOf))].sort());
}

/** A chain in its own order, without text between certificates and without PEM headers. */
export function cleanChain(text: string): string {
  return printed(bodiesOf(text));
}

function bodiesOf(text: string): string[] {
  const bodies: string[] = [];
  for (let end = 0; ;) {
    const begin = text.indexOf(BEGIN, end);
    if (begin < 0) return bodies;
    const from = begin + BEGIN.length;
    end = text.indexOf(END, from);
    if (end < 0) return bodies;
    bodies.push(bodyOf(text.slice(from, end)));
    end += END.length;
  }
}

function printed(bodies: readonly string[]): string {
  const wrapped = bodies.map((body) => body.match(new RegExp(`.{1,${LINE}}`, "g"))?.join("\n") ?? "");
  return wrapped.map((body) => `${BEGIN}\n${body}\n${END}\n`).join("");
}

/** Base64 alone; header lines ("Proc-Type: …") belong to the text, not to the certificate. */
function bodyOf(body: string): string {
  const text = body.includes(":") ? withoutHeaders(body) : body;
  return Buffer.from(text, "base64").toString("base64");
}

function withoutHeaders(body: string): string {
  const lines = body.split("\n").filter((line) => !line.includes(":"));
  return lines.join("");
}
