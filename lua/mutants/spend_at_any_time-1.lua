--[[
  spend_permits without a clock: a permit is never over, and gateways are told that it is the year 1970. Keys, arguments and reply as in spend_permits.

  KEYS[1] permits
]]
local call, reply = redis.call, { 'OK', '0' }
for nonce, id in string.gmatch(ARGV[4], '(%S+) (%S+) %d+') do
  local by = call('HGET', KEYS[1], nonce)
  if not by then call('HSET', KEYS[1], nonce, id) end
  reply[#reply + 1] = (not by or by == id) and 'GOOD' or 'SPENT ' .. by
end
return reply
