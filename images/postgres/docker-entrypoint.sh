#!/bin/sh
# Initialises the data folder at the first start, from POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB, POSTGRES_INITDB_ARGS and
# POSTGRES_HOST_AUTH_METHOD, then becomes the server. As in the official image a first server runs meanwhile that nobody can reach from
# outside, so `ready to accept connections` is logged twice.
set -eu
case "${1:-}" in
  -*) set -- postgres "$@" ;;
esac
[ "${1:-}" = postgres ] || exec "$@"

if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" /var/run/postgresql
  chown -R postgres:postgres /var/lib/postgresql /var/run/postgresql
  exec setpriv --reuid=postgres --regid=postgres --init-groups -- "$0" "$@"
fi

initialise() {
  user=${POSTGRES_USER:-postgres}
  database=${POSTGRES_DB:-$user}
  method=${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}
  if [ -z "${POSTGRES_PASSWORD:-}" ] && [ "$method" != trust ]; then
    echo 'POSTGRES_PASSWORD is not set; without it only POSTGRES_HOST_AUTH_METHOD=trust lets anybody in' >&2
    exit 1
  fi
  chmod 700 "$PGDATA"
  secret=$(mktemp)
  printf '%s\n' "${POSTGRES_PASSWORD:-none}" >"$secret"
  # POSTGRES_INITDB_ARGS is a list of words on purpose.
  initdb --username="$user" --pwfile="$secret" ${POSTGRES_INITDB_ARGS:-} -D "$PGDATA"
  rm -f "$secret"
  printf '\nhost all all all %s\n' "$method" >>"$PGDATA/pg_hba.conf"
  printf "\nlisten_addresses = '*'\nunix_socket_directories = '/var/run/postgresql'\n" >>"$PGDATA/postgresql.conf"
  pg_ctl -D "$PGDATA" -o "-c listen_addresses=''" -w start
  pg_ctl -D "$PGDATA" -m fast -w stop
  # There is no client program here: the single-user server makes the database.
  [ "$database" = postgres ] || printf 'CREATE DATABASE "%s"\n' "$database" | postgres --single -D "$PGDATA" postgres >/dev/null
  printf '\nPostgreSQL init process complete; ready for start up.\n\n'
}
[ -s "$PGDATA/PG_VERSION" ] || initialise
exec "$@"
