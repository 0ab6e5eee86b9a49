--[[
  spend_permits without the book: every permit that is not over is good for whoever shows it. Keys, arguments and reply as in spend_permits.

  KEYS[1] permits
]]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local reply = { 'OK', string.format('%.0f', now) }
for _, _, ends in string.gmatch(ARGV[4], '(%S+) (%S+) (%d+)') do
  reply[#reply + 1] = ends - now > 0 and 'GOOD' or 'EXPIRED'
end
return reply
