--[[
  Writes durable results back: state, order id and reason of records, and gives units back. PostgreSQL is the truth, this is its mirror.

  KEYS[1] stock     string
  KEYS[2] requests  hash: request id → packed record
  KEYS[3] users     hash: user id → request id
  KEYS[4] pending   sorted set of request ids
  KEYS[5] meta      hash: status, …

  ARGV[1] number of updates, 1…256
  ARGV[2] "requestId reservationId state version returnsUnit clearsMark orderId reason …", eight fields each: state O, R or L; version
          of the aggregate; returnsUnit and clearsMark 1 or 0; orderId and reason "-" where there is none

  Reply: { 'OK', decision 1, …, decision n }, n + 1 strings: "APPLIED 1|0", "STALE 1|0" or "UNKNOWN_RECORD 0"; the digit says whether a
  unit was given back. While the SKU is being rebuilt: { 'PAUSED' } alone, and nothing is done.

  Rules: only a newer version changes state, order and reason. A unit is given back once per reservation id, whatever the order in which
  events arrive: that a reservation has ended stays true, so a release that was overtaken still returns its unit. The user's mark goes
  where the update says so (the rules of the activity decide), if it still belongs to this request. An unknown record, or one of another reservation, never increments; neither does a
  missing stock key, for INCRBY would make a stock out of nothing (a rebuild counts from durable facts). A rebuild has read PostgreSQL at
  one moment; an event applied to the records that it is about to replace would be lost, so events wait until it has ended.
]]
if redis.call('HGET', KEYS[5], 'status') == 'paused' then return { 'PAUSED' } end

local count = tonumber(ARGV[1])
local ids, updates, n = {}, {}, 0
local FIELDS = '(%S+) (%S+) ([ORL]) (%d+) ([01]) ([01]) (%S+) (%S+)'
for id, reservation, state, version, returns, clears, order, reason in string.gmatch(ARGV[2], FIELDS) do
  n = n + 1
  ids[n] = id
  updates[n] = { reservation, state, tonumber(version), returns == '1', order, reason, clears == '1' }
end
if n ~= count or n < 1 or n > 256 then return redis.error_reply('ERR apply_projection: the updates do not fit their number') end

-- state, middle (user … expiry), user, reservation, applied version, unit returned, order, reason
local RECORD = '^(%a)(|(%d+)|%x+|([^|]+)|[^|]+|%d+|%d+|%d+|%d+)|(%d+)|([01])|([^|]*)|([^|]*)$'

local has_stock = redis.call('EXISTS', KEYS[1]) == 1
local stored = redis.call('HMGET', KEYS[2], unpack(ids))
local current = {}
for i = 1, n do current[ids[i]] = stored[i] end

local reply, changed, done, freed, units = { 'OK' }, {}, {}, {}, 0
for i = 1, n do
  local id, update = ids[i], updates[i]
  local decision = 'UNKNOWN_RECORD 0'
  local state, middle, user, reservation, version, returned, order, reason = string.match(current[id] or '', RECORD)
  if state and reservation == update[1] then
    local newer = update[3] > tonumber(version)
    local gives = update[4] and returned == '0' and has_stock
    if newer then
      state, version = update[2], string.format('%.0f', update[3])
      if update[5] ~= '-' then order = update[5] end
      reason = update[6] ~= '-' and update[6] or ''
      done[#done + 1] = id
    end
    if gives then
      returned, units = '1', units + 1
    end
    if update[7] and redis.call('HGET', KEYS[3], user) == id then freed[#freed + 1] = user end
    if newer or gives then
      current[id] = state .. middle .. '|' .. version .. '|' .. returned .. '|' .. order .. '|' .. reason
      changed[#changed + 1] = id
      changed[#changed + 1] = current[id]
    end
    decision = (newer and 'APPLIED ' or 'STALE ') .. (gives and '1' or '0')
  end
  reply[i + 1] = decision
end

if #changed > 0 then redis.call('HSET', KEYS[2], unpack(changed)) end
if #freed > 0 then redis.call('HDEL', KEYS[3], unpack(freed)) end
if units > 0 then redis.call('INCRBY', KEYS[1], units) end
if #done > 0 then redis.call('ZREM', KEYS[4], unpack(done)) end
return reply
