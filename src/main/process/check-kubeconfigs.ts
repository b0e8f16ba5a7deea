// Before anything starts, checks that the kubeconfig and the files that it names can be read. So an operator sees one
// error and an exit status. The first request to the API server shows whether it accepts them.

import { access, constants } from "node:fs/promises";
import { messageOf } from "../../shared/base/errors/thrown.js";
import type { ClientConfig, Source } from "../../shared/kubernetes/api/client/config.js";
import { KubeconfigError } from "../../shared/kubernetes/api/client/kubeconfig/errors.js";
import { loadClientConfig } from "../../shared/kubernetes/api/client/kubeconfig/load.js";
import type { Tolerated } from "../../shared/kubernetes/api/client/kubeconfig/read.js";
import type { NodeObjectSettings } from "../command/views/node.js";
import { renewedCertificate } from "../node/certificates/certificate-files.js";

export interface ClusterFiles {
  /** "": stand-alone. */
  kubeconfig: string;
  /** "": there is none. */
  bootstrapKubeconfig: string;
  certDir: string;
  node: Pick<NodeObjectSettings, "rotateCertificates">;
}

interface KubeconfigFiles extends ClusterFiles {
  /** `kubeconfig` exists. */
  joined: boolean;
}

/**
 * A broken kubeconfig is no error if bootstrap creates a new one. Rejects with KubeconfigError. `tolerated` gets
 * mistakes with which the kubelet starts.
 */
export async function checkKubeconfigs(files: KubeconfigFiles, tolerated: Tolerated): Promise<void> {
  const { kubeconfig, bootstrapKubeconfig, joined } = files;
  if (joined) {
    try {
      await check(kubeconfig, renewedCertificate(files), tolerated);
      return;
    } catch (error) {
      if (bootstrapKubeconfig === "" || !(error instanceof KubeconfigError)) throw error;
      await checkInPlaceOf(error, bootstrapKubeconfig, tolerated);
      return;
    }
  }
  await check(bootstrapKubeconfig, "", tolerated);
}

/** If neither can be used, the error names both problems. */
async function checkInPlaceOf(
  broken: KubeconfigError,
  bootstrapKubeconfig: string,
  tolerated: Tolerated,
): Promise<void> {
  try {
    await check(bootstrapKubeconfig, "", tolerated);
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new KubeconfigError(
      error.file,
      error.field,
      error.line,
      `${error.problem}; it is needed since ${broken.message}`,
      { cause: error },
    );
  }
}

/** `renewed`: a file that may replace certificate and key; "": none. */
async function check(path: string, renewed: string, tolerated: Tolerated): Promise<void> {
  const config = await loadClientConfig(path, tolerated);
  const missing = await firstMissing(config);
  if (missing === undefined) return;
  if (missing.renewable && renewed !== "" && (await problemOf(renewed)) === undefined) return;
  throw new KubeconfigError(
    path,
    missing.what,
    undefined,
    `names ${missing.file}, which can't be read: ${missing.why}`,
  );
}

interface Missing {
  what: string;
  file: string;
  why: string;
  renewable: boolean;
}

async function firstMissing(config: ClientConfig): Promise<Missing | undefined> {
  const { certificateAuthority, clientCertificate, token, tokenFile } = config;
  const wanted: [what: string, source: Source | undefined, renewable: boolean][] = [
    ["certificate-authority", certificateAuthority, false],
    // A token beside the file replaces it.
    ["tokenFile", tokenFile === undefined || token !== undefined ? undefined : { file: tokenFile }, false],
    ["client-certificate", clientCertificate?.certificate, true],
    ["client-key", clientCertificate?.key, true],
  ];
  for (const [what, source, renewable] of wanted) {
    if (source === undefined || "data" in source) continue;
    const why = await problemOf(source.file);
    if (why !== undefined) return { what, file: source.file, why, renewable };
  }
  return undefined;
}

async function problemOf(file: string): Promise<string | undefined> {
  return await access(file, constants.R_OK).then(
    () => undefined,
    (error: unknown) => messageOf(error),
  );
}
