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
  ARGV[5] "requestId userId length requestId userId length …"
  ARGV[6] the packed records in state P, end to end, each as long as told
  ARGV[7] ms that a gateway may say "sold out" from memory after it was told so; 0: none does

  Reply: { status, decision 1, …, decision n }, always n + 1 strings. status: OK, NOT_READY (stock or meta missing, or not open), PAUSED
  (being rebuilt) or EPOCH_MISMATCH; then every decision says the same. decision: "code", "code stockLeft", or for REPEATED and
  USER_HAS_ONE "code stockLeft requestId record" of the reservation there is (record "-" where it cannot be read). PAUSED as a decision:
  nothing is left for now, but a rebuild still holds units back. With ARGV[7] > 0 a SOLD_OUT is "SOLD_OUT stockLeft n waitMs accepted": sold
  out for the n-th time; waitMs > 0: units are back and will be sold then; accepted: requests accepted so far. Field soldOut of meta: "n" sold
  out, "n@t" back but not sold before t, "n.…" on sale again. Nobody is accepted from "n" until t, since a gateway that was told "sold out"
  refuses whom it does not know as a winner for ARGV[7] ms: a unit sold at once could go to a client whose repeat this gateway would refuse.

  Why it is shaped so: all reads come before the first write, so the sold-out path writes nothing (nothing for AOF and replicas either)
  and a failing read leaves nothing half done. HMGET, HSET and ZADD take the whole batch, since creating keys and calls costs more than
  deciding. The records come as one blob, cut only where one is stored or compared: taking them apart cost more than all the rest.
]]
local call, sub, count, blob = redis.call, string.sub, tonumber(ARGV[4]), ARGV[6]

local function same_for_all(code)
  local reply = { code }
  for i = 1, count do reply[i + 1] = code end
  return reply
end

local meta = call('HMGET', KEYS[2], 'epoch', 'activityVersion', 'status', 'heldBack', 'soldOut')
local left = tonumber(call('GET', KEYS[1]) or '')
if meta[3] == 'paused' then return same_for_all('PAUSED') end
if not left or not meta[1] or not meta[2] or meta[3] ~= 'open' then return same_for_all('NOT_READY') end
if meta[1] ~= ARGV[1] or meta[2] ~= ARGV[2] then return same_for_all('EPOCH_MISMATCH') end

local hold, wait, phase, time = tonumber(ARGV[7] or '0'), 0, meta[5], nil
local times, mode, at = string.match(phase or '0.', '^(%d+)([@.]?)(%d*)$')
if hold > 0 and left > 0 and mode ~= '.' then
  time = call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  if mode == '' then at = string.format('%.0f', now + hold) end
  wait = math.max(0, at - now)
  mode = wait > 0 and '@' or '.'
  phase = times .. mode .. at
end

-- Record i is sub(blob, starts[i], starts[i + 1] - 1).
local ids, users, starts, n = {}, {}, { 1 }, 0
for id, user, length in string.gmatch(ARGV[5], '(%S+) (%d+) (%d+)') do
  n = n + 1
  ids[n], users[n], starts[n + 1] = id, user, starts[n] + length
end
if n ~= count or n < 1 or n > 64 or starts[n + 1] ~= #blob + 1 then
  return redis.error_reply('ERR reserve_batch: the requests do not fit their number')
end

local records = call('HMGET', KEYS[3], unpack(ids))
local owners = call('HMGET', KEYS[4], unpack(users))

-- What this very batch has accepted so far, and records of owners looked up on the way.
local record_of, owner_of = {}, {}
local function existing(id)
  record_of[id] = record_of[id] or call('HGET', KEYS[3], id) or '-'
  return id .. ' ' .. record_of[id]
end

local held_back = (tonumber(meta[4] or '') or 0) > 0
local nothing_left = held_back and 'PAUSED ' or 'SOLD_OUT '
local turn = string.format('%.0f', mode == '.' and times + 1 or times)
local accepted = hold > 0 and call('HLEN', KEYS[3]) or 0
local reply, sold_out = { 'OK' }, nil
local new_requests, new_users, taken = {}, {}, 0
for i = 1, n do
  local id, user = ids[i], users[i]
  local record = records[i] or record_of[id]
  local owner = owners[i] or owner_of[user]
  if record and record ~= '-' then
    -- User and payload hash begin the record after its state letter: they must be the same.
    local identity = string.match(blob, '^P(|%d+|%x+|)', starts[i])
    -- 00000000: rebuilt from durable facts that no longer know the payload.
    local same = identity and (sub(record, 2, #identity + 1) == identity or sub(record, 2, #user + 12) == '|' .. user .. '|00000000|')
    reply[i + 1] = same and 'REPEATED ' .. left .. ' ' .. id .. ' ' .. record or 'IDEMPOTENCY_CONFLICT ' .. left
  elseif owner then
    reply[i + 1] = 'USER_HAS_ONE ' .. left .. ' ' .. existing(owner)
  elseif left < 1 or wait > 0 then
    -- From the first refusal on nobody of this batch is accepted any more, so all of them hear the same.
    sold_out = sold_out or nothing_left .. left .. (hold > 0 and not held_back and string.format(' %s %.0f %.0f', turn, wait, accepted + taken / 2) or '')
    reply[i + 1] = sold_out
  else
    left = left - 1
    reply[i + 1] = 'RESERVED ' .. left
    record = sub(blob, starts[i], starts[i + 1] - 1)
    record_of[id], owner_of[user] = record, id
    taken = taken + 2
    new_requests[taken - 1], new_requests[taken] = id, record
    new_users[taken - 1], new_users[taken] = user, id
  end
end

if hold > 0 and left < 1 and not held_back then phase = turn end
if phase ~= meta[5] then call('HSET', KEYS[2], 'soldOut', phase) end
if taken > 0 then
  time = time or call('TIME')
  local due_at = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[3])
  local new_pending = {}
  for i = 1, taken, 2 do new_pending[i], new_pending[i + 1] = due_at, new_requests[i] end
  call('DECRBY', KEYS[1], taken / 2)
  call('HSET', KEYS[3], unpack(new_requests))
  call('HSET', KEYS[4], unpack(new_users))
  call('ZADD', KEYS[5], unpack(new_pending))
end
return reply
