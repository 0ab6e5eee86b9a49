#!/bin/sh
# While the image is made: formats a log folder to copy from, and writes down the classes of a broker that starts once and is told to end.
set -eu
libs=$(printf '%s:' /opt/kafka/libs/*.jar); libs=${libs%:}
cat >/tmp/format.properties <<P
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@localhost:9093
controller.listener.names=CONTROLLER
listeners=DIRECT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093
inter.broker.listener.name=DIRECT
listener.security.protocol.map=DIRECT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=/opt/kafka/formatted
P
java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$libs" kafka.tools.StorageTool format -t "$CLUSTER_ID" -c /tmp/format.properties

export KAFKA_CLASS_ARCHIVE_OPTS=-XX:ArchiveClassesAtExit=/opt/kafka/kafka.jsa
export KAFKA_NODE_ID=1 KAFKA_PROCESS_ROLES=broker,controller KAFKA_CONTROLLER_QUORUM_VOTERS=1@localhost:9093 KAFKA_CONTROLLER_LISTENER_NAMES=CONTROLLER \
  KAFKA_LISTENERS=DIRECT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093 KAFKA_INTER_BROKER_LISTENER_NAME=DIRECT \
  KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=DIRECT:PLAINTEXT,CONTROLLER:PLAINTEXT KAFKA_LOG_DIRS=/tmp/broker KAFKA_HEAP_OPTS='-Xms128m -Xmx512m -Xss512k'
/etc/kafka/docker/run >/tmp/broker.log 2>&1 &
broker=$!
tries=0
until grep -q 'Kafka Server started' /tmp/broker.log; do
  tries=$((tries + 1))
  if [ "$tries" -gt 600 ] || ! kill -0 "$broker"; then cat /tmp/broker.log; exit 1; fi
  sleep 0.1
done
kill "$broker"
wait "$broker" || true
test -s /opt/kafka/kafka.jsa || { cat /tmp/broker.log; exit 1; }
rm -rf /tmp/broker /tmp/broker.log /tmp/format.properties
