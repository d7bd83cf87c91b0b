#!/bin/sh
# Runs a server that listens, and connects stdin and stdout to it, so that a program that speaks with
# servers on stdio tests one on a socket: `over-socket.sh ws|unix COMMAND…`. The server has the id of
# this process, so that signals reach it.
here=$(dirname "$0")
kind=$1
shift
case $kind in
  ws) address=ws://127.0.0.1:$(node -e '
    const server = require("node:net").createServer();
    server.listen(0, "127.0.0.1", () => { console.log(server.address().port); server.close(); });') ;;
  unix) address=unix://$(mktemp -d)/socket ;;
esac
exec 3<&0 4>&1
node "$here/over-socket.js" "$address" $$ <&3 >&4 &
exec "$@" --listen "$address" </dev/null >/dev/null 3<&- 4>&-
