# make            compile, fetching npm packages first where they are missing
# make install    into $(DESTDIR)$(PREFIX); MODE=standalone (default), kubeadm or plain; FORCE=1 replaces a foreign kubelet
# make uninstall  removes what was installed; PURGE=1 also the configuration and the kubelet's state
# make packages   .deb, .rpm and tarball for amd64 and arm64 below dist/packages; ARCH=amd64, FORMATS=deb,tar: only these; VERSION=; FAST=1 compresses less
# make apt-repository  a Debian repository of dist/packages in dist/apt; KEY= signs it, URL= writes nodelet.sources
# make installer  install.sh and the signature that it verifies, beside the packages; KEY= and URL= are needed
# make image      the container image of the kubelet, of dist/packages, by docker; IMAGE= names it
DESTDIR ?=
PREFIX ?= /usr
MODE ?=
NODE ?= node
# Node executable on the machine that will run the kubelet; default: the one that runs make.
TARGET_NODE ?=
# Of the image.
IMAGE ?= nodelet/kubelet
DOCKER ?= docker
INSTALLER = dist/tools/install/main.js

.PHONY: all install uninstall packages apt-repository installer image

all:
	test -e node_modules || npm ci --include=dev --no-audit --no-fund
	npm run --silent build

packages: all
	@$(NODE) dist/tools/release/main.js \
	  $(if $(ARCH),--arch "$(ARCH)") $(if $(FORMATS),--formats "$(FORMATS)") $(if $(VERSION),--version "$(VERSION)") $(if $(FAST),--fast)

apt-repository installer: all
	@$(NODE) dist/tools/release/publish/main.js $@ $(if $(KEY),--key "$(KEY)") $(if $(URL),--url "$(URL)")

image:
	@$(DOCKER) build --file tools/deploy/container/Dockerfile --tag "$(IMAGE)" .

install uninstall:
	@test -e $(INSTALLER) || { echo "not built yet: run make first" >&2; exit 1; }
	@$(NODE) $(INSTALLER) $@ --prefix "$(PREFIX)" --destdir "$(DESTDIR)" \
	  $(if $(MODE),--mode "$(MODE)") $(if $(TARGET_NODE),--node "$(TARGET_NODE)") $(if $(FORCE),--force) $(if $(PURGE),--purge)
