#!/bin/sh
# Options alone mean redis-server; as root it gives the data folder to the user redis and goes on as that user.
set -eu
case "${1:-}" in
  -* | *.conf) set -- redis-server "$@" ;;
esac
if [ "${1:-}" = redis-server ] && [ "$(id -u)" = 0 ]; then
  chown -R redis:redis .
  exec setpriv --reuid=redis --regid=redis --init-groups -- "$@"
fi
exec "$@"
