// TLS as the kubelet's fields name it (Go's names and numbers), and as OpenSSL, which Node brings, names it.
// A name OpenSSL does not build in (undefined) is known but of no use here.
// Sources: https://pkg.go.dev/crypto/tls#pkg-constants, https://docs.openssl.org/3.0/man1/openssl-ciphers/

export type TlsVersion = "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3";

export const TLS_VERSIONS: ReadonlyMap<string, TlsVersion> = new Map([
  ["VersionTLS10", "TLSv1"],
  ["VersionTLS11", "TLSv1.1"],
  ["VersionTLS12", "TLSv1.2"],
  ["VersionTLS13", "TLSv1.3"],
]);

const NOT_BUILT = undefined;

export const TLS_CIPHERS: ReadonlyMap<string, string | undefined> = new Map([
  ["TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"],
  ["TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"],
  ["TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256"],
  ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"],
  ["TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"],
  ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"],
  ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "ECDHE-ECDSA-CHACHA20-POLY1305"],
  ["TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA"],
  ["TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA-AES128-SHA256"],
  ["TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA"],
  ["TLS_ECDHE_ECDSA_WITH_RC4_128_SHA", NOT_BUILT],
  ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"],
  ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"],
  ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"],
  ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"],
  ["TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"],
  ["TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "ECDHE-RSA-AES128-SHA256"],
  ["TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"],
  ["TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", NOT_BUILT],
  ["TLS_ECDHE_RSA_WITH_RC4_128_SHA", NOT_BUILT],
  ["TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"],
  ["TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384"],
  ["TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"],
  ["TLS_RSA_WITH_AES_128_CBC_SHA256", "AES128-SHA256"],
  ["TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"],
  ["TLS_RSA_WITH_3DES_EDE_CBC_SHA", NOT_BUILT],
  ["TLS_RSA_WITH_RC4_128_SHA", NOT_BUILT],
]);

/** By Go's CurveID, the number of the TLS registry of groups. */
export const TLS_CURVES: ReadonlyMap<number, { readonly name: string; readonly openssl: string | undefined }> = new Map(
  [
    [23, { name: "P-256", openssl: "P-256" }],
    [24, { name: "P-384", openssl: "P-384" }],
    [25, { name: "P-521", openssl: "P-521" }],
    [29, { name: "X25519", openssl: "X25519" }],
    // Hybrids with ML-KEM came with OpenSSL 3.5.
    [4587, { name: "SecP256r1MLKEM768", openssl: NOT_BUILT }],
    [4588, { name: "X25519MLKEM768", openssl: NOT_BUILT }],
    [4589, { name: "SecP384r1MLKEM1024", openssl: NOT_BUILT }],
  ],
);
