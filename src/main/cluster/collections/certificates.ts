// Certificates in PEM: the same however their text is wrapped; those of bundles each once, in an order that does not change.

const BLOCK = /-----BEGIN CERTIFICATE-----([\s\S]*?)-----END CERTIFICATE-----/g;
const LINE = 64;

export function distinctCertificates(texts: readonly string[]): string {
  return printed([...new Set(texts.flatMap(bodiesOf))].sort());
}

/** A chain in its own order, without what stands between its certificates or in their headers. */
export function cleanChain(text: string): string {
  return printed(bodiesOf(text));
}

function bodiesOf(text: string): string[] {
  return [...text.matchAll(BLOCK)].map(([, body = ""]) => bodyOf(body));
}

function printed(bodies: readonly string[]): string {
  const wrapped = bodies.map((body) => body.match(new RegExp(`.{1,${LINE}}`, "g"))?.join("\n") ?? "");
  return wrapped.map((body) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`).join("");
}

/** Base64 alone; header lines ("Proc-Type: …") belong to the text, not to the certificate. */
function bodyOf(body: string): string {
  const lines = body.split("\n").filter((line) => !line.includes(":"));
  return Buffer.from(lines.join(""), "base64").toString("base64");
}
