// Reads the messages of a generated .proto file: numbers, names and types of their fields. Only the forms that
// upstream's generator writes.

export interface ProtoField {
  number: number;
  name: string;
  /** As written, for example "string" or "k8s.io.apimachinery.pkg.apis.meta.v1.Time". Of a map: its values' type. */
  type: string;
  kind: "one" | "list" | "map";
}

const MESSAGE = /^message (\w+) \{\n([\s\S]*?)^\}/gm;
const FIELD = /^ {2}(optional|repeated|map<string, ?([\w.]+)>) ?([\w.]*) (\w+) = (\d+);/gm;

/** Fields by message. */
export function readProto(text: string): Map<string, ProtoField[]> {
  const messages = new Map<string, ProtoField[]>();
  for (const [, message = "", body = ""] of text.matchAll(MESSAGE)) {
    const fields = [...body.matchAll(FIELD)].map(([, label = "", values, type = "", name = "", number]): ProtoField => {
      const kind = values !== undefined ? "map" : label === "repeated" ? "list" : "one";
      return { number: Number(number), name, type: values ?? type, kind };
    });
    messages.set(message, fields);
  }
  return messages;
}
