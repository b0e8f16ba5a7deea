// Labels of one cgroup's rows, further ones among them, in the order of their names. A page has twenty thousand rows:
// what does not change from row to row is put together once.

import { escapeLabel } from "../../../../shared/base/text/escape.js";

export interface OwnLabels {
  container: string;
  image: string;
  name: string;
  namespace: string;
  pod: string;
}

/** Further labels, by their place among a cgroup's own. */
const AFTER_CONTAINER = ["cpu", "device", "failure_type"] as const;
const AFTER_IMAGE = ["interface", "major", "minor"] as const;
const AFTER_NAMESPACE = ["operation"] as const;
const AFTER_POD = ["scope", "state", "ulimit"] as const;

type Further =
  | (typeof AFTER_CONTAINER)[number]
  | (typeof AFTER_IMAGE)[number]
  | (typeof AFTER_NAMESPACE)[number]
  | (typeof AFTER_POD)[number];

export type FurtherLabels = Partial<Record<Further, string>>;

export class CgroupLabels {
  readonly plain: string;
  private readonly head: string;
  private readonly image: string;
  private readonly namespace: string;
  private readonly pod: string;

  constructor({ container, image, name, namespace, pod }: OwnLabels, id: string) {
    this.head = one("container", container);
    this.image = `,${one("id", id)},${one("image", image)}`;
    this.namespace = `,${one("name", name)},${one("namespace", namespace)}`;
    this.pod = `,${one("pod", pod)}`;
    this.plain = `${this.head}${this.image}${this.namespace}${this.pod}`;
  }

  with(further: FurtherLabels): string {
    const { head, image, namespace, pod } = this;
    const first = `${head}${these(AFTER_CONTAINER, further)}${image}${these(AFTER_IMAGE, further)}`;
    return `${first}${namespace}${these(AFTER_NAMESPACE, further)}${pod}${these(AFTER_POD, further)}`;
  }
}

function one(name: string, value: string): string {
  return `${name}="${escapeLabel(value)}"`;
}

function these(names: readonly Further[], values: FurtherLabels): string {
  let text = "";
  for (const name of names) {
    const value = values[name];
    if (value !== undefined) text += `,${one(name, value)}`;
  }
  return text;
}
