#!/bin/sh
# Runs commands for the test outside. One line in: <id> <seconds> <script, base64>.
# One line out: <id> <status> -<stdout, base64> -<stderr, base64>; status 124 or 137: out of time.
# Plain sh, because a Node process takes seconds to start under emulation.
port=/dev/virtio-ports/nodelet.agent
work=/run/nodelet-vm
mkdir -p "$work"
while [ ! -e "$port" ]; do sleep 0.2; done
exec 3<>"$port"
echo "ready" >&3
while read -r id seconds script <&3; do
  printf %s "$script" | base64 -d >"$work/script"
  timeout -k 5 "$seconds" sh "$work/script" >"$work/out" 2>"$work/err" </dev/null 3>&-
  status=$?
  printf '%s %s -%s -%s\n' "$id" "$status" "$(base64 -w0 "$work/out")" "$(base64 -w0 "$work/err")" >&3
done
