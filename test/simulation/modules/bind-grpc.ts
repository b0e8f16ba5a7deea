// The agent's sockets for plugins (src/shared/kubernetes/plugins/bind-grpc.ts): the file is there, and plugins of the
// simulated machine reach the server.

import { Inode } from "../disk/inode.js";
import { disk } from "../disk/machine-disk.js";
import { plugins } from "../world/plugin-sockets.js";

export function bindGrpc(server: object, path: string): Promise<{ remove(): Promise<void> }> {
  const { tree } = disk;
  const { parent, name } = tree.find(path, "bind", false);
  if (parent.entries.has(name)) tree.unlink(path);
  const socket = new Inode("socket", 0o600, "disk");
  tree.make(path, socket, "bind");
  const unbind = plugins.bind(path, server);
  return Promise.resolve({
    remove: () => {
      unbind();
      if (parent.entries.get(name) === socket) tree.unlink(path);
      return Promise.resolve();
    },
  });
}
