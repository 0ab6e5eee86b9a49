--[[
  reserve_batch that takes the unit first and looks for a duplicate afterwards: every repeated click costs a unit (CASES C10).
  Keys, arguments and reply as in reserve_batch, without sold-out marks.

  KEYS[1] stock   KEYS[2] meta   KEYS[3] requests   KEYS[4] users   KEYS[5] pending
]]
local call, from, reply = redis.call, 1, { 'OK' }
if call('HGET', KEYS[2], 'status') ~= 'open' then return redis.error_reply('ERR decrement_first: the SKU is not open') end
local time = call('TIME')
local due_at = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[3])
for id, user, length in string.gmatch(ARGV[5], '(%S+) (%d+) (%d+)') do
  local record = string.sub(ARGV[6], from, from + length - 1)
  from = from + length
  local left = call('DECR', KEYS[1])
  local known, owner = call('HGET', KEYS[3], id), call('HGET', KEYS[4], user)
  local decision
  if known then
    local identity = string.match(record, '^P(|%d+|%x+|)')
    decision = string.sub(known, 2, #identity + 1) == identity and 'REPEATED ' .. left .. ' ' .. id .. ' ' .. known or 'IDEMPOTENCY_CONFLICT ' .. left
  elseif owner then
    decision = 'USER_HAS_ONE ' .. left .. ' ' .. owner .. ' ' .. (call('HGET', KEYS[3], owner) or '-')
  elseif left < 0 then
    decision = 'SOLD_OUT 0'
  else
    call('HSET', KEYS[3], id, record)
    call('HSET', KEYS[4], user, id)
    call('ZADD', KEYS[5], due_at, id)
    decision = 'RESERVED ' .. left
  end
  if left < 0 then call('INCR', KEYS[1]) end
  reply[#reply + 1] = decision
end
return reply
