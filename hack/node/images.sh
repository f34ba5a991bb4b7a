#!/usr/bin/env bash
# Builds images without a registry to pull from, and pushes them to the registry of the node. STORE is the folder of the images.
#
#   images.sh base NAME NODE        Debian with a Node.js program, its npm, and what both need: stands for the node image of Docker
#   images.sh program NAME FILE UID only one static program
#   images.sh build NAME FOLDER [ARGUMENT=VALUE]    the Dockerfile of a folder
#   images.sh earlier NAME COMMIT   the product of an earlier commit of this repository, once
#   images.sh unpack NAME FOLDER    the files of the product in an image
#   images.sh push NAME REGISTRY    as REGISTRY/path
set -euo pipefail
: "${STORE:?folder of the images}"
# No container is run, so nothing needs a cgroup or a network of its own.
export BUILDAH_ISOLATION=chroot
settings=$STORE/settings
mkdir -p "$settings"
printf 'unqualified-search-registries = ["docker.io"]\nshort-name-mode = "permissive"\n' >"$settings/registries.conf"
printf '{"default": [{"type": "insecureAcceptAnything"}]}\n' >"$settings/policy.json"
export CONTAINERS_REGISTRIES_CONF=$settings/registries.conf

b() { # COMMAND ARGUMENT…
  nice buildah --root "$STORE/root" --runroot "$STORE/runroot" --storage-driver overlay "$@"
}

exists() { b inspect --type image "$1" >/dev/null 2>&1; }

debian() { # FILE: a Debian system, as little of it as possible, from the sources of this machine
  local mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' | awk '$2 == "bookworm" { print $1; exit }')
  nice mmdebstrap --quiet --format=tar --variant=minbase --include=ca-certificates,libatomic1 \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    bookworm "$1.new" "${mirror:-http://deb.debian.org/debian}"
  mv "$1.new" "$1"
}

base() { # NAME NODE
  local container
  if exists "$1"; then return; fi
  [ -f "$STORE/debian.tar" ] || debian "$STORE/debian.tar"
  container=$(b from scratch)
  b add --quiet "$container" "$STORE/debian.tar" /
  b copy --quiet "$container" "$2" /usr/local/bin/node
  b copy --quiet "$container" "$(npm root --global)/npm" /usr/local/lib/node_modules/npm
  b run "$container" -- sh -c 'ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && useradd --uid 1000 --user-group node'
  # npm behind a proxy with its own certificate authority. The image of the product contains nothing of it.
  if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
    b copy --quiet "$container" "$NODE_EXTRA_CA_CERTS" /etc/ssl/certs/ca-certificates.crt
    b config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$container"
  fi
  b config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --cmd node "$container"
  b commit --quiet "$container" "$1"
  b rm "$container"
}

program() { # NAME FILE UID
  local container
  container=$(b from scratch)
  b copy --quiet "$container" "$2" "/$(basename "$2")"
  b config --entrypoint "[\"/$(basename "$2")\"]" --user "$3" "$container"
  b commit --quiet --format docker "$container" "$1"
  b rm "$container"
}

build() { # NAME FOLDER [ARGUMENT=VALUE]
  b build --network host --pull=false --layers --format docker --signature-policy "$settings/policy.json" \
    ${3:+--build-arg "$3"} --tag "$1" "$2"
}

earlier() { # NAME COMMIT
  local folder
  if exists "$1"; then return; fi
  folder=$(mktemp -d)
  git archive "$2" | tar -x -C "$folder"
  build "$1" "$folder"
  rm -rf "$folder"
}

unpack() { # NAME FOLDER
  local container
  container=$(b from --pull=false --signature-policy "$settings/policy.json" "$1")
  rm -rf "$2"
  cp -a "$(b mount "$container")/app" "$2"
  b umount "$container" >/dev/null
  b rm "$container" >/dev/null
}

push() { # NAME REGISTRY
  local path=${1#*/}
  # as Docker names its own images
  [[ $path == */* || $1 != docker.io/* ]] || path=library/$path
  b push --quiet --tls-verify=false --signature-policy "$settings/policy.json" "$1" "docker://$2/$path"
}

"$@"
