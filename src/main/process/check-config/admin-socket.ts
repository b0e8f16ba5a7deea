// The place of the admin socket. A kubelet without it runs; the nodelet command does not reach it.

import { dirname } from "node:path";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { isTooLong } from "../../../shared/io/net/private-socket.js";
import { groupId } from "../../../shared/io/os/group-id.js";
import type { Settings } from "../../command/settings.js";
import { warning, type Finding } from "./finding.js";
import { folderProblem, stateOf } from "./paths.js";

const EFFECT = "the nodelet command does not reach this kubelet";

export async function adminSocketFindings(
  settings: Pick<Settings, "adminSocket" | "adminSocketGroup">,
): Promise<Finding[]> {
  const { adminSocket, adminSocketGroup } = settings;
  if (adminSocket === "none") return [];
  const place = adminSocket === "" ? undefined : await placeProblem(adminSocket);
  const group = adminSocketGroup === "" ? undefined : await groupProblem(adminSocketGroup);
  const found: Finding[] = [];
  if (place !== undefined) found.push(warning("--admin-socket", `${place}: ${EFFECT}; name another path`));
  if (group !== undefined) found.push(warning("--admin-socket-group", `${group}: ${EFFECT}; make it, or name another`));
  return found;
}

async function placeProblem(path: string): Promise<string | undefined> {
  if (!path.startsWith("/")) return `${path} is not absolute`;
  if (isTooLong(path)) return `${path} is too long for a unix socket`;
  const folder = await folderProblem(dirname(path));
  if (folder !== undefined) return folder;
  const state = await stateOf(path);
  return typeof state === "string" || !state.isDirectory() ? undefined : `${path} is a folder`;
}

async function groupProblem(group: string): Promise<string | undefined> {
  return await groupId(group).then(
    () => undefined,
    (thrown: unknown) => messageOf(thrown),
  );
}
