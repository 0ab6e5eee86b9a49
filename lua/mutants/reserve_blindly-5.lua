--[[
  reserve_batch that does not look whether it has seen the request before: run twice, it takes two units for one request.
  Keys, arguments and reply as in reserve_batch, without sold-out marks.

  KEYS[1] stock   KEYS[2] meta   KEYS[3] requests   KEYS[4] users   KEYS[5] pending
]]
local call, from, reply = redis.call, 1, { 'OK' }
if call('HGET', KEYS[2], 'status') ~= 'open' then return redis.error_reply('ERR reserve_blindly: the SKU is not open') end
local time = call('TIME')
local due_at = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[3])
for id, user, length in string.gmatch(ARGV[5], '(%S+) (%d+) (%d+)') do
  local left = tonumber(call('GET', KEYS[1]))
  if left < 1 then
    reply[#reply + 1] = 'SOLD_OUT ' .. left
  else
    call('DECR', KEYS[1])
    call('HSET', KEYS[3], id, string.sub(ARGV[6], from, from + length - 1))
    call('HSET', KEYS[4], user, id)
    call('ZADD', KEYS[5], due_at, id)
    reply[#reply + 1] = 'RESERVED ' .. left - 1
  end
  from = from + length
end
return reply
