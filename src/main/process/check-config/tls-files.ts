// The files of the authenticated port: the CA of its clients, and its certificate with key.

import { createPrivateKey, X509Certificate } from "node:crypto";
import { error, type Finding } from "./finding.js";
import { textOf } from "./paths.js";

export interface TlsSettings {
  clientCAFile: string;
  tlsCertFile: string;
  tlsPrivateKeyFile: string;
}

const CA_PATH = "authentication.x509.clientCAFile";

export async function tlsFindings({ clientCAFile, tlsCertFile, tlsPrivateKeyFile }: TlsSettings): Promise<Finding[]> {
  const found: Finding[] = [];
  if (clientCAFile !== "") {
    const problem = (await certificateIn(clientCAFile)).problem;
    if (problem !== undefined) {
      found.push(error(CA_PATH, `${problem}; copy the cluster's CA there (kubeadm join does), or leave the field out`));
    }
  }
  return [...found, ...(await pairFindings(tlsCertFile, tlsPrivateKeyFile))];
}

async function pairFindings(certFile: string, keyFile: string): Promise<Finding[]> {
  if (certFile === "" && keyFile === "") return [];
  if (certFile === "" || keyFile === "") {
    const [given, missing] =
      certFile === "" ? ["tlsPrivateKeyFile", "tlsCertFile"] : ["tlsCertFile", "tlsPrivateKeyFile"];
    return [error(given, `${missing} is not given; give both, or none for a self-signed certificate`)];
  }
  const [certificate, key] = await Promise.all([certificateIn(certFile), keyIn(keyFile)]);
  const advice = "put certificate and key in PEM there, or leave both fields out for a self-signed one";
  const found: Finding[] = [];
  if (certificate.problem !== undefined) found.push(error("tlsCertFile", `${certificate.problem}; ${advice}`));
  if (key.problem !== undefined) found.push(error("tlsPrivateKeyFile", `${key.problem}; ${advice}`));
  if (certificate.value === undefined || key.value === undefined || certificate.value.checkPrivateKey(key.value)) {
    return found;
  }
  return [...found, error("tlsPrivateKeyFile", `${keyFile} is not the key of ${certFile}; name the pair`)];
}

type Read<T> = { value: T; problem?: undefined } | { value?: undefined; problem: string };

async function certificateIn(file: string): Promise<Read<X509Certificate>> {
  return await read(file, "certificate", (text) => new X509Certificate(text));
}

async function keyIn(file: string): Promise<Read<ReturnType<typeof createPrivateKey>>> {
  return await read(file, "private key", (text) => createPrivateKey(text));
}

async function read<T>(file: string, what: string, parse: (text: string) => T): Promise<Read<T>> {
  const found = await textOf(file);
  if ("problem" in found) return found;
  try {
    return { value: parse(found.text) };
  } catch {
    return { problem: `${file} has no ${what} in PEM` };
  }
}
