--[[
  apply_projection that gives a unit back as often as it is told to: the record does not remember. Keys, arguments and reply as in apply_projection.

  KEYS[1] stock   KEYS[2] requests   KEYS[3] users   KEYS[4] pending   KEYS[5] meta
]]
local call = redis.call
if call('HGET', KEYS[5], 'status') == 'paused' then return { 'PAUSED' } end
local RECORD = '^(%a)(|(%d+)|%x+|([^|]+)|[^|]+|%d+|%d+|%d+|%d+)|(%d+)|([01])|([^|]*)|([^|]*)$'
local FIELDS = '(%S+) (%S+) ([ORL]) (%d+) ([01]) ([01]) (%S+) (%S+)'
local reply = { 'OK' }
for id, reservation, to, version, returns, clears, new_order, new_reason in string.gmatch(ARGV[2], FIELDS) do
  local decision = 'UNKNOWN_RECORD 0'
  local state, middle, user, owner, applied, returned, order, reason = string.match(call('HGET', KEYS[2], id) or '', RECORD)
  if state and owner == reservation then
    local newer = tonumber(version) > tonumber(applied)
    if newer then
      state, applied = to, version
      if new_order ~= '-' then order = new_order end
      reason = new_reason ~= '-' and new_reason or ''
      call('ZREM', KEYS[4], id)
    end
    if returns == '1' then
      returned = '1'
      call('INCR', KEYS[1])
    end
    if clears == '1' and call('HGET', KEYS[3], user) == id then call('HDEL', KEYS[3], user) end
    call('HSET', KEYS[2], id, state .. middle .. '|' .. applied .. '|' .. returned .. '|' .. order .. '|' .. reason)
    decision = (newer and 'APPLIED ' or 'STALE ') .. returns
  end
  reply[#reply + 1] = decision
end
return reply
