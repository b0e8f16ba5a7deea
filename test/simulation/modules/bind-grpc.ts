// The agent's sockets for plugins (src/shared/kubernetes/plugins/bind-grpc.ts): the file is there, and no client
// connects.

import { Inode } from "../disk/inode.js";
import { disk } from "../disk/machine-disk.js";

export function bindGrpc(_server: unknown, path: string): Promise<{ remove(): Promise<void> }> {
  const { tree } = disk;
  const { parent, name } = tree.find(path, "bind", false);
  if (parent.entries.has(name)) tree.unlink(path);
  const socket = new Inode("socket", 0o600, "disk");
  tree.make(path, socket, "bind");
  return Promise.resolve({
    remove: () => {
      if (parent.entries.get(name) === socket) tree.unlink(path);
      return Promise.resolve();
    },
  });
}
