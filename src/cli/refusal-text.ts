// What a refused request says to people. The kubelet sends plain text on most paths, metav1.Status on those of the
// manifest API, and upstream's small JSON object for a query of logs. Pure.

interface Refusal {
  message?: unknown;
  details?: { causes?: { message?: unknown }[] };
}

/** One line without JSON; "" for an empty body. */
export function refusalText(body: string): string {
  const text = body.trim();
  if (!text.startsWith("{")) return text;
  let read: Refusal;
  try {
    read = JSON.parse(text) as Refusal;
  } catch {
    return text;
  }
  if (typeof read.message === "string" && read.message !== "") return read.message;
  return `the kubelet refused the request without a reason`;
}
