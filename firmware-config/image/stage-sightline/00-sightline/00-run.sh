#!/bin/bash -e
# The package with what it needs and recommends, and every board's settings: each stands
# under the filter of its model in config.txt.
install -m 0644 sightline.deb "${ROOTFS_DIR}/root/sightline.deb"
on_chroot <<'EOF'
apt-get install -y /root/sightline.deb
rm /root/sightline.deb
for model in pi3 pi4 pi5 zero2w; do
  sightline setup-board --model "$model"
done
rm -f /boot/firmware/config.txt.before-sightline
EOF
