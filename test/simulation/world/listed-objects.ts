// Encoded and decoded forms of what lists of the runtime have, object by object: a list in which one container is new
// costs that container. Both replies have their objects in field 1.
// Invariant: two listed objects with the same id and state are equal. Decoded objects are frozen, since lists share
// them.

import {
  Container,
  PodSandbox,
  type ListContainersResponse,
  type ListPodSandboxResponse,
} from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { frozen, shareDecoded } from "../modules/decoded-replies.js";

/** Tag of field 1, length-delimited. */
const TAG = 10;
/** Objects that are known, gone ones among them. */
const MOST = 2000;

interface Listed {
  /** With tag and length. */
  bytes: Buffer;
  value: unknown;
}

interface Codec<T> {
  encode(object: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

class ListedObjects<T extends { id: string; state: number }> {
  private readonly known = new Map<string, Listed>();

  constructor(private readonly codec: Codec<T>) {}

  all(objects: readonly T[]): Listed[] {
    if (this.known.size > MOST) this.known.clear();
    return objects.map((object) => {
      const key = `${object.state}${object.id}`;
      let listed = this.known.get(key);
      if (listed === undefined) {
        const bytes = this.codec.encode(object).finish();
        listed = { bytes: Buffer.concat([head(bytes.length), bytes]), value: frozen(this.codec.decode(bytes)) };
        this.known.set(key, listed);
      }
      return listed;
    });
  }
}

const containers = new ListedObjects(Container);
const sandboxes = new ListedObjects(PodSandbox);

export type Listing = ListContainersResponse | ListPodSandboxResponse;

/** The bytes of a list's reply; a caller that decodes them gets the shared objects. */
export function encodeListed(reply: Listing): Buffer {
  const isContainers = "containers" in reply;
  const listed = isContainers ? containers.all(reply.containers) : sandboxes.all(reply.items);
  const bytes = Buffer.concat(listed.map((one) => one.bytes));
  const values = listed.map(({ value }) => value);
  shareDecoded(
    bytes,
    Object.freeze(isContainers ? { containers: Object.freeze(values) } : { items: Object.freeze(values) }),
  );
  return bytes;
}

function head(length: number): Buffer {
  const bytes = [TAG];
  let left = length;
  for (; left > 0x7f; left >>>= 7) bytes.push((left & 0x7f) | 0x80);
  bytes.push(left);
  return Buffer.from(bytes);
}
