// The RPM package, put together by rpmbuild from the finished tree.

import { cp, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { KUBERNETES_VERSION } from "../../src/main/command/version.js";
import { run } from "../standalone/exec.js";
import { SetupProblem } from "../standalone/problem.js";
import { DESCRIPTION, HOMEPAGE, MAINTAINER, SUMMARY, type Build } from "./build.js";
import { rpmChangelog } from "./changelog.js";
import { put, settle } from "./files.js";
import { NAMES } from "./pins.js";
import { DOC, LAYOUT, putCompletions } from "./tree.js";

/** As the .deb; zstd -19 is no smaller and takes longer. */
const PAYLOAD = { small: "w6.xzdio", fast: "w3.zstdio" } as const;
const TIMEOUT_MS = 30 * 60_000;

/** Writes nodelet-<version>-1.<architecture>.rpm into `build.out`; returns its path. */
export async function makeRpm(build: Build): Promise<string> {
  const top = join(build.work, "rpm");
  const stage = join(top, "stage");
  await cp(build.tree, stage, { recursive: true });
  await putCompletions(stage, "others");
  await settle(stage, build.epoch);
  const changelog = await readFile(join(build.root, "CHANGELOG.md"), "utf8");
  await put(join(top, "nodelet.spec"), spec(build, stage, changelog));
  const target = NAMES[build.architecture].rpm;
  for (const name of ["BUILD", "RPMS", "tmp"]) await mkdir(join(top, name));
  const define = (name: string, value: string): string[] => ["--define", `${name} ${value}`];
  await run(
    "rpmbuild",
    [
      ...["-bb", "--quiet", "--target", `${target}-linux`],
      ...define("_topdir", top),
      ...define("_tmppath", join(top, "tmp")),
      ...define("_buildhost", "localhost"),
      ...define("use_source_date_epoch_as_buildtime", "1"),
      // The time is that of the commit, not of the changelog's first day.
      ...define("source_date_epoch_from_changelog", "0"),
      ...define("clamp_mtime_to_source_date_epoch", "1"),
      ...define("_binary_payload", PAYLOAD[build.compression]),
      // The files are finished: nothing is stripped, compressed or compiled again.
      ...define("__os_install_post", "%{nil}"),
      ...define("debug_package", "%{nil}"),
      ...define("_build_id_links", "none"),
      // This machine's rpm may be without a database.
      ...["--nodeps", "--buildroot", join(top, "buildroot"), join(top, "nodelet.spec")],
    ],
    { cwd: top, env: { SOURCE_DATE_EPOCH: String(build.epoch), LC_ALL: "C" }, timeoutMs: TIMEOUT_MS },
  );
  const made = join(top, "RPMS", target);
  const name = (await readdir(made)).find((file) => file.endsWith(".rpm"));
  if (name === undefined) throw new SetupProblem("rpmbuild made no package");
  const file = join(build.out, name);
  await rename(join(made, name), file).catch(() => cp(join(made, name), file));
  await rm(top, { recursive: true });
  return file;
}

function spec({ version, epoch }: Build, stage: string, changelog: string): string {
  return `Name: nodelet
Version: ${version}
Release: 1
Summary: ${SUMMARY}
License: Apache-2.0
URL: ${HOMEPAGE}
Packager: ${MAINTAINER}
# Written by hand: a search in the files would name every library of Node by its symbols.
AutoReqProv: no
Requires: bash, glibc >= 2.28, libstdc++, libgcc, util-linux
Recommends: (containerd or containerd.io or cri-o), (containernetworking-plugins or kubernetes-cni), iptables, iproute, e2fsprogs
Suggests: nfs-utils, iscsi-initiator-utils, device-mapper-multipath, xfsprogs, shadow-utils-subid
Provides: kubelet = ${KUBERNETES_VERSION.slice(1)}
Conflicts: kubelet

%description
${DESCRIPTION.join("\n")}

%install
mkdir -p %{buildroot}
cp -a ${stage}/. %{buildroot}/

%pre
if [ -e ${LAYOUT.home}/installed.json ] || [ -e ${LAYOUT.home}/installed.files ]; then
  echo "nodelet: it is installed here without a package: run make uninstall, or ./install.sh --uninstall of its tarball, first" >&2
  exit 1
fi

%post
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload >/dev/null 2>&1 || :
# Presets of the distribution decide about the start at boot.
if [ "$1" = 1 ]; then systemctl preset kubelet.service >/dev/null 2>&1 || :; fi

%preun
# Containers belong to the runtime: they run on without the kubelet.
if [ "$1" = 0 ] && [ -d /run/systemd/system ]; then systemctl disable --now kubelet.service >/dev/null 2>&1 || :; fi

%postun
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload >/dev/null 2>&1 || :
# An upgrade restarts the kubelet and no container.
if [ "$1" -ge 1 ]; then systemctl try-restart kubelet.service >/dev/null 2>&1 || :; fi

%files
%defattr(-,root,root,-)
/usr/bin/kubelet
/usr/bin/nodelet
${LAYOUT.home}
${LAYOUT.generator}
${LAYOUT.unit}
%config(noreplace) ${LAYOUT.config}
%dir /etc/nodelet
%dir ${LAYOUT.manifests}
/usr/share/man/man*/*
/usr/share/bash-completion/completions/*
/usr/share/zsh/site-functions/*
/usr/share/fish/vendor_completions.d/*
${DOC}

%changelog
${rpmChangelog(changelog, { version, epoch })}`;
}
