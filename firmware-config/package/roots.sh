# Debian systems in folders (debootstrap), to build and try packages in. They are kept in
# SIGHTLINE_ROOTS, by default sightline-packages in the user's cache; removing that folder
# is all it takes to begin again. Sourced by build-all and test, which run as root.

roots=${SIGHTLINE_ROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/sightline-packages}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
declare -A suites=([12]=bookworm [13]=trixie)

need() {
  [ "$(id -u)" = 0 ] || { echo "$0: root is needed: roots are made with debootstrap and entered with chroot" >&2; exit 2; }
  local missing=() p
  for p in debootstrap "$@"; do
    dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || missing+=("$p")
  done
  [ ${#missing[@]} -eq 0 ] || DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >&2
}

# base N makes the bare Debian N.
base() {
  local to=$roots/base-$1
  [ -d "$to" ] && return
  mkdir -p "$roots"
  rm -rf "$to.new"
  debootstrap --variant=minbase --arch=amd64 "${suites[$1]}" "$to.new" "$mirror" >"$to.log" 2>&1 || { tail -5 "$to.log" >&2; exit 1; }
  if [ "$1" = 12 ]; then
    echo "deb $mirror-security bookworm-security main" >>"$to.new/etc/apt/sources.list"
  else
    echo "deb $mirror-security trixie-security main" >>"$to.new/etc/apt/sources.list"
  fi
  mv "$to.new" "$to"
}

# inside ROOT COMMAND... runs a command in a root, with the mounts of BINDS ("from:to",
# read-only with a ":ro" at the end). With ALONE=1 it has no network but a loopback of its
# own. Mounts and processes end with it.
inside() {
  local root=$1
  shift
  local namespaces=(--mount --pid --fork --kill-child)
  [ -z "${ALONE:-}" ] || namespaces+=(--net)
  BINDS="${BINDS:-}" ALONE="${ALONE:-}" unshare "${namespaces[@]}" bash -euc '
    root=$1; shift
    mount --make-rprivate /
    [ -z "$ALONE" ] || ip link set lo up
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    for b in $BINDS; do
      IFS=: read -r from to how <<<"$b"
      if [ -d "$from" ]; then mkdir -p "$root$to"; else mkdir -p "$(dirname "$root$to")"; touch "$root$to"; fi
      mount --bind "$from" "$root$to"
      [ -z "$how" ] || mount -o remount,bind,ro "$root$to"
    done
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    exec chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin \
      HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"' bash "$root" "$@"
}

# builder N ARCH makes the Debian N (of amd64) in which packages for ARCH are built.
builder() {
  local n=$1 arch=$2 to=$roots/build-$1-$2
  [ -d "$to" ] && return
  base "$n"
  rm -rf "$to.new"
  cp -a "$roots/base-$n" "$to.new"
  local want=(ca-certificates pkg-config dpkg-dev)
  if [ "$arch" = amd64 ]; then
    want+=(gcc g++ libc6-dev libopencv-dev libapriltag-dev lintian)
  else # OpenCV of one architecture only: two cannot be installed next to each other
    want+=("crossbuild-essential-$arch" "libopencv-dev:$arch" "libapriltag-dev:$arch" qemu-user-static)
    inside "$to.new" dpkg --add-architecture "$arch"
  fi
  inside "$to.new" sh -c 'apt-get update -q && apt-get install -y -q --no-install-recommends "$@" && apt-get clean' sh "${want[@]}" \
    >"$to.log" 2>&1 || { tail -5 "$to.log" >&2; exit 1; }
  mv "$to.new" "$to"
}

# build N ARCH OUT [CACHE [PLACE]] builds a package into a folder.
build() {
  local n=$1 arch=$2 out=$3 cache=${4:-$roots/go-build} place=${5:-/src} version epoch
  read -r version epoch < <(firmware-config/package/version)
  builder "$n" "$arch"
  mkdir -p "$out" "$cache"
  BINDS="$PWD:$place:ro $(go env GOROOT):/usr/local/go:ro $(go env GOMODCACHE):/root/go/pkg/mod:ro $cache:/root/.cache/go-build $out:/out" \
    inside "$roots/build-$n-$arch" env GOTOOLCHAIN=local GOPROXY=off GOFLAGS=-mod=readonly \
    "GOAMD64=${GOAMD64:-v2}" "GOTAGS=$GOTAGS" "ARCH=$arch" "VERSION=$version" \
    "SOURCE_DATE_EPOCH=$epoch" OUT=/out "$place/firmware-config/package/build"
}
