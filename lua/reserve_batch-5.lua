--[[
  Decides 1…64 reservation requests of one SKU, each on its own, in the order given. Idempotent by request id: a repeat of an accepted
  request answers its record and changes nothing. Refusals are not remembered.

  KEYS[1] stock     string: units that can still be reserved
  KEYS[2] meta      hash: epoch, activityVersion, status, … (warm_up)
  KEYS[3] requests  hash: request id → packed record (src/system/stock/record-codec.ts)
  KEYS[4] users     hash: user id → request id that holds the user's one reservation
  KEYS[5] pending   sorted set: request id by the time (ms, this server's clock) when the scanner shall look at it

  ARGV[1] epoch the caller knows                ARGV[2] activity version the caller knows
  ARGV[3] ms until the scanner may look         ARGV[4] number of requests
  ARGV[5] "requestId record requestId record …" where record is packed in state P

  Reply: { status, decision 1, …, decision n }, always n + 1 strings. status: OK, NOT_READY (stock or meta missing, or not open) or
  EPOCH_MISMATCH; then every decision says the same. decision: "code", "code stockLeft", or for REPEATED and USER_HAS_ONE
  "code stockLeft requestId record" of the reservation there is (record "-" where it cannot be read).

  Why it is shaped so: all reads come before the first write, so the sold-out path writes nothing (nothing for AOF and replicas either)
  and a failing read leaves nothing half done; HMGET, HSET and ZADD take the whole batch, since creating keys and calls costs more than
  deciding. One joined ARGV is cheaper for the client to encode than hundreds.
]]
local known_epoch, known_version, due_in_ms, count = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local function same_for_all(code)
  local reply = { code }
  for i = 1, count do reply[i + 1] = code end
  return reply
end

local meta = redis.call('HMGET', KEYS[2], 'epoch', 'activityVersion', 'status')
local left = tonumber(redis.call('GET', KEYS[1]) or '')
if not left or not meta[1] or not meta[2] or meta[3] ~= 'open' then return same_for_all('NOT_READY') end
if meta[1] ~= known_epoch or meta[2] ~= known_version then return same_for_all('EPOCH_MISMATCH') end

local ids, packed, identities, users, n = {}, {}, {}, {}, 0
for id, record, identity, user in string.gmatch(ARGV[5], '(%S+) (P(|(%d+)|%x+|)%S+)') do
  n = n + 1
  ids[n], packed[n], identities[n], users[n] = id, record, identity, user
end
if n ~= count or n < 1 or n > 64 then return redis.error_reply('ERR reserve_batch: the requests do not fit their number') end

local records = redis.call('HMGET', KEYS[3], unpack(ids))
local owners = redis.call('HMGET', KEYS[4], unpack(users))

-- What this very batch has accepted so far, and records of other owners looked up on the way.
local record_of, owner_of = {}, {}
local function existing(id)
  local record = record_of[id]
  if record == nil then
    record = redis.call('HGET', KEYS[3], id) or '-'
    record_of[id] = record
  end
  return id .. ' ' .. record
end

local reply, taken = { 'OK' }, 0
local new_requests, new_users, new_pending = {}, {}, {}
local time = redis.call('TIME')
local due_at = string.format('%.0f', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) + due_in_ms)

for i = 1, n do
  local id, user, identity = ids[i], users[i], identities[i]
  local record = records[i] or record_of[id]
  local owner = owners[i] or owner_of[user]
  local decision
  if record and record ~= '-' then
    -- The identity is user and payload hash; both begin the record, after its state letter.
    if string.sub(record, 2, #identity + 1) == identity then
      decision = 'REPEATED ' .. left .. ' ' .. id .. ' ' .. record
    else
      decision = 'IDEMPOTENCY_CONFLICT ' .. left
    end
  elseif owner then
    decision = 'USER_HAS_ONE ' .. left .. ' ' .. existing(owner)
  elseif left < 1 then
    decision = 'SOLD_OUT ' .. left
  else
    left = left - 1
    record_of[id], owner_of[user] = packed[i], id
    local pair = taken * 2
    new_requests[pair + 1], new_requests[pair + 2] = id, packed[i]
    new_users[pair + 1], new_users[pair + 2] = user, id
    new_pending[pair + 1], new_pending[pair + 2] = due_at, id
    taken = taken + 1
    decision = 'RESERVED ' .. left
  end
  reply[i + 1] = decision
end

if taken > 0 then
  redis.call('DECRBY', KEYS[1], taken)
  redis.call('HSET', KEYS[3], unpack(new_requests))
  redis.call('HSET', KEYS[4], unpack(new_users))
  redis.call('ZADD', KEYS[5], unpack(new_pending))
end
return reply
