// nodelet version: the version of this command, and that of the kubelet that responds on the socket.

import { messageOf } from "../../shared/base/errors/thrown.js";
import { productVersion } from "../../shared/base/version/product-version.js";
import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import type { Context } from "../context.js";
import { CliError, EXIT, type ExitCode } from "../errors.js";
import { print } from "../output/print.js";

export async function versionCommand(context: Context): Promise<ExitCode> {
  const { version } = productVersion();
  const kubelet = await kubeletVersion(context);
  const data = { nodelet: version, node: process.version, kubelet };
  await print(context, data, () => {
    const other =
      "problem" in kubelet
        ? kubelet.problem
        : `Kubernetes ${kubelet.kubernetes}, Node.js ${kubelet.node}, pid ${kubelet.pid}`;
    return `nodelet  ${version}, Node.js ${process.version}\nkubelet  ${other}\n`;
  });
  return EXIT.fine;
}

/** A command without a kubelet has a version, too. */
async function kubeletVersion({
  client,
}: Context): Promise<{ kubernetes: string; node: string; pid: number } | { problem: string }> {
  try {
    const { kubernetesVersion, nodeVersion, pid } = await client.json<NodeletStatus>("/nodelet/status");
    return { kubernetes: kubernetesVersion, node: nodeVersion, pid };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { problem: messageOf(error) };
  }
}
