// Certificates in PEM: the same however their text is wrapped, each once, in an order that does not change.

const BLOCK = /-----BEGIN CERTIFICATE-----([\s\S]*?)-----END CERTIFICATE-----/g;
const LINE = 64;

export function distinctCertificates(texts: readonly string[]): string {
  const bodies = new Set<string>();
  for (const text of texts) {
    for (const [, body = ""] of text.matchAll(BLOCK)) bodies.add(bodyOf(body));
  }
  const wrapped = [...bodies].sort().map((body) => body.match(new RegExp(`.{1,${LINE}}`, "g"))?.join("\n") ?? "");
  return wrapped.map((body) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`).join("");
}

/** Base64 alone; header lines ("Proc-Type: …") belong to the text, not to the certificate. */
function bodyOf(body: string): string {
  const lines = body.split("\n").filter((line) => !line.includes(":"));
  return Buffer.from(lines.join(""), "base64").toString("base64");
}
